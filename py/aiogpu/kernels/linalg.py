"""Factorisations of matrices: which file computes which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aiogpu.kernels import factors, jacobi, reflections

if TYPE_CHECKING:
    from aiogpu.kernels.writer import TextCache
    from aiogpu.limits import Limits
    from aiogpu.program import Program
    from aiogpu.schedule.step import Step

_PROGRAMS: Final = {
    "lu": factors.lu,
    "lu_solve": factors.lu_solve,
    "cholesky": factors.cholesky,
    "qr": reflections.qr,
    "eigh": jacobi.eigh,
    "svd": jacobi.svd,
}


def render(step: Step, limits: Limits, cache: TextCache) -> Program:
    """The program of a factorisation of float32 or complex64 matrices, whole batches at once."""
    return _PROGRAMS[step.core.op.name](step, limits, cache)
