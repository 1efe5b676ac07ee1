import pytest

from aiogpu import dtypes
from aiogpu.errors import KernelError
from aiogpu.kernels.user import declared

SOURCE = """
// @group(0) @binding(9) var<storage, read> ghost: array<f32>;
override scale: f32 = 1.0;
/* override ghost: f32; */
@group(0) @binding(1) var<storage, read_write> y: array<vec4<u32>>;
@group(0) @binding(0)
var<storage, read> x: array<f32, 16>;
@group(0) @binding(2) var<storage, read_write> z: array<atomic<i32>>;
@compute @workgroup_size(8, 4u) fn kernel() {}
"""


def test_declarations_are_read_in_the_order_of_their_bindings():
    found = declared(SOURCE, "test")
    assert [b.name for b in found.bindings] == ["x", "y", "z"]
    assert [b.dtype for b in found.bindings] == [dtypes.float32, dtypes.uint32, dtypes.int32]
    assert [b.is_written for b in found.bindings] == [False, True, True]
    assert (found.entry, found.workgroup) == ("kernel", (8, 4, 1))
    assert found.overrides == {"scale"}


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ("@compute", "@vertex", "no @compute"), ("binding(2)", "binding(3)", "without gaps"),
        ("group(0) @binding(2)", "group(1) @binding(2)", "z: only storage"),
        ("array<f32, 16>", "mat4x4f", "x: mat4x4f"), ("(8, 4u)", "(scale)", "workgroup_size"),
    ],
)  # fmt: skip
def test_what_cannot_be_bound_is_named(old, new, match):
    with pytest.raises(KernelError, match=rf"wgsl: test: .*{match}|wgsl: test: {match}"):
        declared(SOURCE.replace(old, new), "test")
