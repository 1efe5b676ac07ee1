import pytest

from aiogpu import dtypes
from aiogpu.errors import LimitError
from aiogpu.graph import build, select
from aiogpu.kernels.render import render
from aiogpu.kernels.writer import TextCache
from aiogpu.limits import Limits
from aiogpu.schedule.fuse import schedule

IMMEDIATE = Limits(immediate_nbytes=64)
UNIFORM = Limits()

GOLDEN = """\
requires immediate_address_space;
struct Params { grid_offset: u32, n: u32, k1: f32 }
var<immediate> p: Params;
@group(0) @binding(0) var<storage, read> b0: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
"""


def leaf(*shape, dtype=dtypes.float32):
    return build.leaf(object(), shape, dtype)


def launch(node, limits=IMMEDIATE, cache=None):
    (step,) = schedule([node], limits)
    (made,) = render(step, limits, cache or TextCache()).launches
    return made


def test_text_of_a_simple_kernel():
    made = launch(build.elementwise("add", leaf(301), 2.5))
    assert made.wgsl.startswith(GOLDEN)
    assert "@compute @workgroup_size(128)" in made.wgsl
    assert "if (i >= p.n) { return; }" in made.wgsl
    assert "2.5" not in made.wgsl
    assert (made.bindings, made.writes, made.groups, made.label) == ((0, 1), 0b10, 3, "add")
    assert made.params == (0, 301, 0x40200000)
    assert made.param_space == "immediate"


def test_vectors_of_four_are_read_and_stored_whole():
    made = launch(build.elementwise("add", leaf(300), leaf(300)))
    assert made.wgsl.count("array<vec4<f32>>") == 3
    assert "if (q >= p.n / 4u) { return; }" in made.wgsl
    assert made.groups == 1
    shifted = select.cut(leaf(301), slice(1, None))
    made = launch(build.elementwise("add", shifted, leaf(300)))
    assert made.wgsl.count("array<vec4<f32>>") == 2  # the other is read element by element
    small = build.elementwise("less", leaf(300), leaf(300))
    assert "vec4" not in launch(small).wgsl  # four bools are one word


def test_sizes_and_numbers_do_not_change_the_text():
    cache = TextCache()
    first = launch(build.elementwise("add", leaf(300), 1000015.0), cache=cache)
    second = launch(build.elementwise("add", leaf(4, 7), 1000025.0), cache=cache)
    assert first.wgsl is second.wgsl
    assert first.params != second.params


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (lambda: leaf(8), lambda: leaf(8, dtype=dtypes.int32)),
        (lambda: leaf(8, dtype=dtypes.uint32), lambda: leaf(8, dtype=dtypes.uint8)),
        (lambda: leaf(8), lambda: select.cut(leaf(9), slice(1, None))),
        (lambda: leaf(4, 4), lambda: build.permute(leaf(4, 4), (1, 0))),
        (lambda: leaf(4, 4), lambda: build.broadcast_to(leaf(4), (4, 4))),
        (lambda: leaf(4, 4), lambda: build.broadcast_to(leaf(), (4, 4))),
    ],
)
def test_dtypes_and_layouts_change_the_text(one, two):
    cache = TextCache()
    texts = [launch(build.elementwise("negative", make()), cache=cache).wgsl for make in (one, two)]
    assert texts[0] != texts[1]


def test_contiguous_views_need_no_coordinates():
    made = launch(build.elementwise("exp", select.cut(leaf(6, 5, 4), slice(2, None))))
    assert made.params[1:] == (80, 40)
    assert " % p." not in made.wgsl.split("fn main")[1]


def test_strided_views_are_walked_by_as_few_axes_as_possible():
    every_other = launch(
        build.elementwise("exp", select.cut(leaf(6, 8), (..., slice(None, None, 2))))
    )
    assert every_other.params == (0, 24, 0, 2)
    corner = launch(build.elementwise("exp", select.cut(leaf(6, 5, 8), (..., slice(1, 4)))))
    assert corner.params == (0, 90, 3, 1, 8, 1)


def test_packed_results_are_written_word_by_word():
    made = launch(build.elementwise("add", leaf(1030, dtype=dtypes.uint8), 1))
    assert made.groups == 3
    assert "out[at] = packed;" in made.wgsl
    assert "array<u32>" in made.wgsl
    assert "array<u8>" not in made.wgsl


def test_parameters_beyond_the_immediates_go_to_a_uniform():
    x = leaf(2, 3, 2, 3, 2, 3, 2, 3)
    strided = build.permute(x, (7, 5, 3, 1, 6, 4, 2, 0))
    made = launch(build.elementwise("exp", strided))
    assert 4 * len(made.params) > 64
    assert made.param_space == "uniform"
    assert "var<uniform> p" in made.wgsl
    assert "immediate" not in made.wgsl
    assert launch(build.elementwise("exp", leaf(4)), UNIFORM).param_space == "uniform"


def test_more_elements_than_a_launch_can_count():
    huge = build.elementwise("exp", build.broadcast_to(leaf(), (2**16, 2**16)))
    with pytest.raises(LimitError, match="4294967296 elements"):
        launch(huge)


def test_the_offset_of_the_grid_comes_first():
    made = launch(build.elementwise("exp", leaf(4)))
    assert made.params[0] == 0
    assert "p.grid_offset + wid.y * nwg.x + wid.x" in made.wgsl


def test_long_chains_are_statements_not_nested_expressions():
    x = leaf(4)
    for _ in range(50):
        x = build.elementwise("exp", x)
    text = launch(x).wgsl
    assert text.count("let v5") == 2  # v5 and v50
    assert text.count("fn ag_exp(") == 1
