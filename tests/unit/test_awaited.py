import pytest

import aiogpu as gpu
from aiogpu.errors import SyncAccessError

METHODS = ("numpy", "tolist", "data")


@pytest.mark.parametrize("name", METHODS)
def test_read_that_was_not_awaited_names_await(name):
    read = getattr(gpu.ones(3), name)()
    assert repr(read) == f"<a read that was not awaited: write `await x.{name}()`>"
    for use in (lambda: read + 1, lambda: read[0], lambda: float(read), lambda: read > 2, read):
        with pytest.raises(SyncAccessError, match=f"add await: `await x.{name}"):
            use()


def test_read_of_several_names_itself():
    assert repr(gpu.read(gpu.ones(1))).endswith("write `await gpu.read(...)`>")
    with pytest.raises(SyncAccessError, match=r"`await gpu\.read\(\.\.\.\)`"):
        list(gpu.read(gpu.ones(1)))


@pytest.mark.parametrize("name", METHODS)
async def test_method_that_was_not_called_names_the_call(name):
    method = getattr(gpu.ones(3), name)
    assert repr(method) == f"<{name} is a method: write `await x.{name}()`>"
    with pytest.raises(SyncAccessError, match=rf"not called: `await x.{name}\(\)`"):
        await method
    with pytest.raises(SyncAccessError, match="not called"):
        2 * method
    with pytest.raises(SyncAccessError, match="not called"):
        list(method)


async def test_reads_still_read(host):
    assert await gpu.ones((2, 2)).copy().tolist() == [[0, 0], [0, 0]]  # the fake device's zeros
    assert await gpu.Array.tolist(gpu.ones(1).copy()) == [0]
    assert gpu.Array.numpy.__doc__.startswith("``await x.numpy()``")
