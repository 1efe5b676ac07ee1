import pytest

import aiogpu as gpu
from aiogpu import spellings


@pytest.mark.parametrize("name", spellings.FUNCTIONS)
def test_numpys_functions_are_answered_by_ours(name):
    with pytest.raises(AttributeError, match=f"'{name}': the name here is "):
        getattr(gpu, name)


def test_the_names_that_are_given_are_there():
    for ours in spellings.FUNCTIONS.values():
        if ours.replace(".", "").isidentifier():
            owner, _, name = f"gpu.{ours}".rpartition(".")
            assert hasattr(gpu.nn if owner == "gpu.nn" else gpu, name), ours


def test_methods_are_answered_by_ours():
    x = gpu.ones((2, 3))
    for name, ours in spellings.METHODS.items():
        with pytest.raises(AttributeError, match=name) as caught:
            getattr(x, name)
        assert ours in str(caught.value)


def test_other_names_are_not_there():
    with pytest.raises(AttributeError, match=r"aiogpu has no attribute .frobnicate.$"):
        gpu.frobnicate  # noqa: B018
    assert not hasattr(gpu.ones(2), "__cuda_array_interface__")
    assert not hasattr(gpu, "__file_that_is_not_there__")
