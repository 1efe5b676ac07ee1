import aiogpu as gpu


def test_rows_give_way_to_fast_ones_within_the_block_only():
    x = gpu.ones(3)
    with gpu.fast_math():
        made = {"fast_sin": gpu.sin(x), "fast_divide": x / 2, "fast_pow": x**3, "add": x + 1}
        with gpu.fast_math():
            pass
        made["fast_gelu"] = gpu.nn.gelu(x)
    made |= {"sin": gpu.sin(x), "divide": x / 2, "pow": x**3}
    assert {name: array._node.op.name for name, array in made.items()} == {n: n for n in made}


def test_what_is_there_for_its_digits_stays():
    with gpu.fast_math():
        for name in ("expm1", "log1p", "erf"):
            assert getattr(gpu, name)(gpu.ones(3))._node.op.name == name
