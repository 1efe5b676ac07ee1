"""The conformance cases by identifier, and what the page asks of them.

Identifiers such as N01 name the kind of failure; docs/cases.md says where each is tested.
"""

import time
import traceback

import aiogpu as gpu

CASES = {}


def case(identifier, title):
    """Register a case under the identifier and a title for the table."""

    def register(function):
        CASES[identifier] = (title, function)
        return function

    return register


def names():
    """Identifiers and titles of all cases, in order."""
    return [[identifier, title] for identifier, (title, _) in CASES.items()]


async def run(identifier):
    """Run one case: whether it passed, what was wrong, and how long it took."""
    start = time.perf_counter()
    message = ""
    try:
        await CASES[identifier][1]()
    except Exception as error:  # noqa: BLE001 - whatever a case raises is its result
        where = traceback.extract_tb(error.__traceback__)[1 if error.__traceback__.tb_next else 0]
        message = f"{type(error).__name__}: {str(error).strip()} ({where.line})"
    elapsed_ms = 1000 * (time.perf_counter() - start)
    return {"passed": not message, "message": message, "elapsed_ms": elapsed_ms}


async def facts():
    """The adapter and the environment, for the report's head."""
    return await gpu.report()
