"""The software adapters of these tests: the one that is meant, or an error."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from drivers import DRIVERS, apply

CALL = {"ag_exp": (np.zeros(1, np.float32),)}


@pytest.mark.parametrize("driver", DRIVERS.values(), ids=DRIVERS)
def test_the_adapter_is_the_one_that_is_meant(driver, tmp_path):
    adapter, results = apply(driver, CALL, tmp_path)
    assert driver.mark in adapter
    assert results["ag_exp"].tolist() == [1]


@pytest.mark.parametrize("driver", DRIVERS.values(), ids=DRIVERS)
def test_a_driver_that_is_not_there_is_an_error(driver, tmp_path):
    absent = replace(driver, manifest=Path("/nowhere/driver.json"))
    with pytest.raises(RuntimeError, match="no such file: run `make setup`"):
        apply(absent, CALL, tmp_path)


def test_another_adapter_is_an_error(tmp_path):
    other = replace(DRIVERS["lavapipe"], manifest=DRIVERS["swiftshader"].manifest)
    with pytest.raises(RuntimeError, match="another adapter"):
        apply(other, CALL, tmp_path)


@pytest.mark.parametrize("driver", DRIVERS.values(), ids=DRIVERS)
def test_a_kernel_that_fails_is_an_error(driver, tmp_path):
    many = {"ag_exp": (np.zeros(64 * 65535 + 1, np.float32),)}
    with pytest.raises(RuntimeError, match="at most 4194240 elements"):
        apply(driver, many, tmp_path)
