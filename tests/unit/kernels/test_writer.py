import pytest

from aiogpu import dtypes
from aiogpu.kernels import types
from aiogpu.kernels.writer import Params, TextCache, shader
from aiogpu.limits import Limits


def test_parameters_keep_their_order_and_wrap_to_words():
    params = Params()
    assert params.add("n", 7) == "p.n"
    params.add("k", -1, "i32")
    assert params.names == ["grid_offset: u32", "n: u32", "k: i32"]
    assert params.words == [0, 7, 0xFFFFFFFF]


@pytest.mark.parametrize(
    ("count", "allowed", "space"),
    [(15, 64, "immediate"), (16, 64, "uniform"), (1, 0, "uniform")],
)
def test_parameters_travel_where_they_fit(count, allowed, space):
    params = Params()
    for number in range(count):
        params.add(f"n{number}", 0)
    assert params.space(Limits(immediate_nbytes=allowed)) == space


def test_a_shader_has_the_functions_that_it_calls_and_no_others():
    text = shader(
        space="uniform",
        params=Params(),
        buffers=[("x", "f32", False), ("out", "f32", True)],
        body="  out[0] = ag_max_f32(x[0], x[1]);\n",
        workgroup=64,
    )
    assert "fn ag_max_f32(" in text
    assert "fn ag_isnan(" in text
    assert "fn ag_min_f32(" not in text
    assert "@group(1) @binding(0) var<uniform> p: Params;" in text
    assert "@group(0) @binding(1) var<storage, read_write> out: array<f32>;" in text


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=repr)
def test_elements_under_a_word_are_taken_from_it(dtype):
    text = types.load("x", "i", dtype)
    assert ("extractBits" in text) == dtype.is_packed
    assert types.storage(dtype) == ("u32" if dtype.is_packed else dtype.compute)


def test_texts_are_kept_by_key():
    cache = TextCache()
    assert cache.get("a") is None
    assert cache.put("a", "text") == cache.get("a") == "text"
