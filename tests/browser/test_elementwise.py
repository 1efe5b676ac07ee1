"""Elementwise functions against NumPy: dtypes, broadcasting, NaN and infinities, special values."""

import pytest
from pytest_pyodide import run_in_pyodide


@run_in_pyodide
async def test_exact_unary_functions(selenium_worker):
    import numpy as np
    from numpy.testing import assert_array_equal

    import aiogpu as gpu

    rng = np.random.default_rng(1)
    special = [0.0, -0.0, 0.5, 1.5, 2.5, -0.5, -1.5, 3.7, -3.7, np.inf, -np.inf, np.nan, 1e30]
    near = [8388607.5, -8388608.5, 2**31, 2**32, -0.49999997, 0.49999997, 1e-30]
    hosts = {
        "float32": np.array([*special, *near, *rng.normal(0, 50, 40)], "f4"),
        "int32": np.array([0, 1, -1, 7, -7, 2**31 - 1, -(2**31), 1 << 16], "i4"),
        "uint32": np.array([0, 1, 7, 2**31, 2**32 - 1], "u4"),
        "uint8": np.array([0, 1, 127, 128, 255], "u1"),
        "bool": np.array([True, False, True]),
    }
    numbers = ("float32", "int32", "uint32", "uint8")
    takes = {
        **dict.fromkeys(("abs", "negative", "positive", "sign", "square"), numbers),
        **dict.fromkeys(("floor", "ceil", "trunc", "round"), numbers),
        **dict.fromkeys(("isnan", "isinf", "isfinite", "logical_not"), tuple(hosts)),
        "signbit": ("float32",),
        "bitwise_invert": ("int32", "uint32", "uint8", "bool"),
    }
    named = [(name, dtype) for name, dtypes in takes.items() for dtype in dtypes]
    made = [getattr(gpu, name)(gpu.asarray(hosts[dtype])) for name, dtype in named]
    for (name, dtype), read in zip(named, await gpu.read(*made), strict=True):
        with np.errstate(all="ignore"):
            wanted = getattr(np, name)(hosts[dtype])
        assert_array_equal(read, wanted, strict=True, err_msg=f"{name} {dtype}")
        if wanted.dtype.kind == "f":
            zeros = np.signbit(wanted) == np.signbit(read)
            assert zeros[~np.isnan(wanted)].all(), f"{name}: sign of zero"


@run_in_pyodide
async def test_elementary_functions_on_their_useful_domain(selenium_worker):
    import numpy as np

    import aiogpu as gpu
    from aiogpu.kernels.numerics import ACCURACY

    def line(low, high, count=2000):
        return np.linspace(low, high, count)

    def both(exponents):
        sizes = 10.0**exponents
        return np.concatenate([-sizes, sizes])

    def erf(x):
        from math import erf

        return np.vectorize(erf, otypes=["f8"])(x)

    domains = {
        "exp": line(-87, 88.7), "expm1": np.concatenate([line(-20, 88.7), both(line(-6, -1))]),
        "log": 10 ** line(-37, 38), "log2": 10 ** line(-37, 38), "log10": 10 ** line(-37, 38),
        "log1p": np.concatenate([10 ** line(-6, 38), -(10 ** line(-6, -0.01))]),
        "sqrt": 10 ** line(-37, 38), "reciprocal": both(line(-37, 37)),
        "sin": line(-30, 30), "cos": line(-30, 30), "tan": line(-30, 30),
        "asin": line(-1, 1), "acos": line(-1, 1), "atan": both(line(-6, 8)),
        "sinh": np.concatenate([line(-88, 88), both(line(-6, 0))]), "cosh": line(-88, 88),
        "tanh": np.concatenate([line(-12, 12), both(line(-6, 0))]),
        "asinh": both(line(-6, 30)), "acosh": 1 + 10 ** line(-5, 30),
        "atanh": np.concatenate([line(-0.999, 0.999), both(line(-6, -1))]),
        "erf": np.concatenate([line(-5, 5), both(line(-6, 0))]),
    }  # fmt: skip
    renamed = {
        "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "asinh": np.arcsinh,
        "acosh": np.arccosh, "atanh": np.arctanh, "erf": erf,
    }  # fmt: skip
    hosts = {name: values.astype("f4") for name, values in domains.items()}
    made = [getattr(gpu, name)(gpu.asarray(host)) for name, host in hosts.items()]
    worst = {}
    for (name, host), read in zip(hosts.items(), await gpu.read(*made), strict=True):
        exact = renamed.get(name, getattr(np, name, None))(host.astype("f8"))
        # Subnormals may flush to zero, so an error below the smallest normal number is none.
        off = np.maximum(np.abs(read - exact) - 1.2e-38, 0) / np.spacing(np.abs(exact, dtype="f4"))
        allowed = ACCURACY[f"ag_{name}"][2]
        if not off.max() <= allowed:
            at = int(np.nanargmax(off))
            worst[name] = (float(off[at]), float(host[at]), float(read[at]), float(exact[at]))
    assert not worst


@run_in_pyodide
async def test_elementary_functions_of_special_values(selenium_worker):
    import numpy as np
    from numpy.testing import assert_allclose

    import aiogpu as gpu

    host = np.array([0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 2, -2, 1e38, -1e38, 200, -200], "f4")
    renamed = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh"}
    renamed |= {"acosh": "arccosh", "atanh": "arctanh"}
    names = (
        "exp", "expm1", "log", "log1p", "log2", "log10", "sqrt", "reciprocal", "sin", "cos", "tan",
        "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
    )  # fmt: skip
    huge = {"sin", "cos", "tan"}
    x = gpu.asarray(host)
    made = await gpu.read(*(getattr(gpu, name)(x) for name in names), gpu.erf(x))
    for name, read in zip(names, made[:-1], strict=True):
        with np.errstate(all="ignore"):
            wanted = getattr(np, renamed.get(name, name))(host.astype("f8")).astype("f4")
        keep = np.abs(host) < 1e30 if name in huge else np.full(host.shape, True)
        keep |= ~np.isfinite(host)
        # 5e-7 is four units in the last place; below 1.2e-38 results may flush to zero.
        assert_allclose(read[keep], wanted[keep], rtol=5e-7, atol=1.2e-38, err_msg=name)
    assert_allclose(made[-1][:7], [0, 0, 0.8427008, -0.8427008, 1, -1, np.nan], rtol=5e-7)


@run_in_pyodide
async def test_integers_and_bools_become_float32_where_floats_are_due(selenium_worker):
    import numpy as np
    from numpy.testing import assert_allclose

    import aiogpu as gpu

    hosts = [np.array([1, 2, 3], "i4"), np.array([1, 2, 3], "u4"), np.array([1, 2, 3], "u1")]
    for host in hosts:
        x = gpu.asarray(host)
        made = await gpu.read(gpu.exp(x), gpu.sqrt(x), x / 2, 1 / x, x / x, gpu.hypot(x, 4))
        single = host.astype("f4")
        wanted = np.exp(single), np.sqrt(single), single / 2, 1 / single, single / single
        for read, value in zip(made, (*wanted, np.hypot(single, 4)), strict=True):
            assert read.dtype == np.float32
            assert_allclose(read, value, rtol=5e-7)  # four units in the last place


@pytest.mark.driver_timeout(120)
@run_in_pyodide
async def test_binary_functions_over_all_pairs_of_dtypes(selenium_worker):
    from itertools import product

    import numpy as np
    import pytest
    from numpy.testing import assert_allclose

    import aiogpu as gpu

    rng = np.random.default_rng(2)
    hosts = {
        "float32": rng.normal(0, 9, (3, 1, 5)).astype("f4"),
        "int32": rng.integers(-9, 9, (4, 1), dtype="i4"),
        "uint32": rng.integers(0, 9, (1, 4, 5)).astype("u4"),
        "uint8": rng.integers(0, 9, (5,)).astype("u1"),
        "bool": rng.integers(0, 2, (3, 4, 1)).astype("?"),
    }
    numbers = {("uint8", "int32"): "int32", ("uint8", "uint32"): "uint32"}
    numbers |= {(each, "float32"): "float32" for each in ("uint8", "int32", "uint32")}
    numbers |= {(two, one): meeting for (one, two), meeting in numbers.items()}
    numbers |= {(each, each): each for each in hosts if each != "bool"}
    flags = {("bool", "bool"): "bool"}
    whole = {pair: meeting for pair, meeting in numbers.items() if meeting != "float32"}
    taken = {
        "add subtract multiply": numbers,
        "divide": dict.fromkeys(numbers | flags, "float32"),
        "maximum minimum equal not_equal less less_equal greater greater_equal": numbers | flags,
        "bitwise_and bitwise_or bitwise_xor": whole | flags,
        "logical_and logical_or logical_xor": dict.fromkeys(product(hosts, hosts), "bool"),
        "floor_divide remainder": numbers,
    }
    # One unit in the last place for division; the rest of floats is what rounding leaves of it.
    rest = {"rtol": 1e-5, "atol": 1e-5}
    tolerances = {"divide": {"rtol": 1.2e-7}, "floor_divide": rest, "remainder": rest}
    made, wanted = [], []
    for names, pairs in taken.items():
        for name, (one, two) in product(names.split(), product(hosts, hosts)):
            x, y = gpu.asarray(hosts[one]), gpu.asarray(hosts[two])
            meeting = pairs.get((one, two))
            if meeting is None:
                with pytest.raises(gpu.errors.DTypeError):
                    getattr(gpu, name)(x, y)
                continue
            a, b = hosts[one].astype(meeting), hosts[two].astype(meeting)
            with np.errstate(all="ignore"):
                value = getattr(np, name)(a, b)
            if name in {"floor_divide", "remainder"} and meeting != "float32":
                value = np.where(b == 0, 0, value).astype(meeting)
            wanted.append((f"{name} {one} {two}", value))
            made.append(getattr(gpu, name)(x, y))
    for (what, value), read in zip(wanted, await gpu.read(*made), strict=True):
        assert (read.dtype, read.shape) == (value.dtype, value.shape), what
        allowed = tolerances.get(what.split()[0], {"rtol": 0})
        assert_allclose(
            read, value, err_msg=what, **(allowed if value.dtype == "f4" else {"rtol": 0})
        )


@run_in_pyodide
async def test_nan_and_infinity_in_binary_functions(selenium_worker):
    import numpy as np
    from numpy.testing import assert_allclose, assert_array_equal

    import aiogpu as gpu

    values = np.array([0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 2.5, -2.5, 3e38], "f4")
    a, b = (grid.ravel() for grid in np.meshgrid(values, values))
    x, y = gpu.asarray(a), gpu.asarray(b)
    names = (
        "add", "subtract", "multiply", "divide", "maximum", "minimum", "equal", "not_equal",
        "less", "less_equal", "greater", "greater_equal", "logical_and", "logical_or",
        "logical_xor",
    )  # fmt: skip
    for name, read in zip(
        names, await gpu.read(*(getattr(gpu, n)(x, y) for n in names)), strict=True
    ):
        with np.errstate(all="ignore"):
            value = getattr(np, name)(a, b)
        if value.dtype.kind == "f":
            # Subnormal results may flush to zero.
            value = np.where(np.abs(value) < 1.2e-38, 0, value).astype("f4")
            assert_allclose(read, value, rtol=1.2e-7 if name == "divide" else 0, err_msg=name)
        else:
            assert_array_equal(read, value, strict=True, err_msg=name)
    for name, read in zip(
        ("atan2", "hypot", "remainder", "floor_divide"),
        await gpu.read(
            gpu.atan2(x, y), gpu.hypot(x, y), gpu.remainder(x, y), gpu.floor_divide(x, y)
        ),
        strict=True,
    ):
        with np.errstate(all="ignore"):
            value = getattr(np, {"atan2": "arctan2"}.get(name, name))(a, b)
            if name == "floor_divide":  # the standard's quotient, where NumPy goes by the remainder
                value = np.where(np.isinf(a) | np.isinf(b), a / b, value)
        off = ~((read == value) | (np.isnan(read) & np.isnan(value)))
        # Four units in the last place; subnormal results may flush to zero.
        off &= ~(np.abs(read - value) <= 4 * np.spacing(np.abs(value)) + 1.2e-38)
        assert not off.any(), (name, [*zip(a[off], b[off], read[off], value[off], strict=True)])


@run_in_pyodide
async def test_constants_are_not_folded_away(selenium_worker):
    import numpy as np
    from numpy.testing import assert_array_equal

    import aiogpu as gpu

    host = np.array([1, np.inf, np.nan, -np.inf, -2], "f4")
    x = gpu.asarray(host)
    made = await gpu.read(x * 0.0, x - x, x / x, 0.0 * x + 1, x * float("inf"), (x + 1) - x)
    with np.errstate(all="ignore"):
        wanted = host * 0, host - host, host / host, 0 * host + 1, host * np.inf, host + 1 - host
    for read, value in zip(made, wanted, strict=True):
        assert_array_equal(read, value.astype("f4"), strict=True)
    big = gpu.asarray(np.array([2**24], "f4"))
    assert (await ((big + 1) - big).tolist()) == [0]


@run_in_pyodide
async def test_operators_with_numbers_on_either_side(selenium_worker):
    import operator

    import numpy as np
    from numpy.testing import assert_allclose

    import aiogpu as gpu

    host = np.array([1, -2, 3, 7], "i4")
    single = np.array([1.5, -2, 3, 7], "f4")
    functions = (
        operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
        operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge,
    )  # fmt: skip
    for values, number in ((host, 3), (host, 2.5), (single, 3), (single, -2.5), (host, True)):
        x = gpu.asarray(values)
        made = [f(x, number) for f in functions] + [f(number, x) for f in functions]
        kind = values.dtype if not isinstance(number, float) else np.dtype("f4")
        number_there = kind.type(number)
        for at, read in enumerate(await gpu.read(*made)):
            function = functions[at % len(functions)]
            a, b = values.astype(kind), number_there
            value = function(a, b) if at < len(functions) else function(b, a)
            if function is operator.truediv:
                value = value.astype("f4")
            assert read.dtype == value.dtype, (function, values.dtype, number)
            # One unit in the last place for division, exact for the others at these sizes.
            assert_allclose(read, value, rtol=1.2e-7)
    x = gpu.asarray(host)
    for read, value in (
        (x & 3, host & 3), (3 & x, 3 & host), (x | 8, host | 8), (x ^ 5, host ^ 5),
        (x << 3, host << 3), (x >> 1, host >> 1), (1 << abs(x), 1 << abs(host)),
        (-x, -host), (+x, +host), (~x, ~host), (x**2, host**2), (x**3, host**3),
    ):  # fmt: skip
        assert (await read.numpy()).tolist() == value.tolist()
    with_numpy = np.array([1, 2, 3, 4], "i4") + x
    assert isinstance(with_numpy, gpu.Array)
    assert await with_numpy.tolist() == [2, 0, 6, 11]


@run_in_pyodide
async def test_shifts_past_the_width(selenium_worker):
    import numpy as np
    from numpy.testing import assert_array_equal

    import aiogpu as gpu

    by = np.array([0, 1, 7, 8, 31, 32, 33, 200], "i4")
    for dtype, values in (
        ("int32", (1, -1, -12345)),
        ("uint32", (1, 2**32 - 1)),
        ("uint8", (255,)),
    ):
        for value in values:
            host = np.full(by.shape, value, dtype)
            shift = by.astype(dtype)
            x, y = gpu.asarray(host), gpu.asarray(shift)
            left, right = await gpu.read(x << y, x >> y)
            bits = 8 * host.itemsize
            mask = (1 << bits) - 1
            lefts = [(int(v) << min(int(s), 64)) & mask for v, s in zip(host, shift, strict=True)]
            rights = [int(v) >> min(int(s), 64) for v, s in zip(host, shift, strict=True)]
            unsigned = left.astype("i8") & mask
            assert_array_equal(unsigned, lefts, err_msg=f"{dtype} {value}")
            assert_array_equal(right, np.array(rights, dtype), err_msg=f"{dtype} {value}")


@run_in_pyodide
async def test_integers_wrap(selenium_worker):
    import numpy as np
    from numpy.testing import assert_array_equal

    import aiogpu as gpu

    for dtype in ("int32", "uint32", "uint8"):
        info = np.iinfo(dtype)
        host = np.array([info.min, info.min + 1, 3, info.max - 1, info.max], dtype)
        x = gpu.asarray(host)
        with np.errstate(all="ignore"):
            wanted = host + host, host - 2 * host, host * host, -host, np.square(host), host * 7
        made = await gpu.read(x + x, x - 2 * x, x * x, -x, gpu.square(x), x * 7)
        for read, value in zip(made, wanted, strict=True):
            assert_array_equal(read, value, strict=True)
    x = gpu.asarray(np.array([821892087], "i4"))
    assert await (x * 2).tolist() == [1643784174]


@run_in_pyodide
async def test_powers_of_negative_zero_and_nan(selenium_worker):
    import numpy as np
    from numpy.testing import assert_allclose, assert_array_equal

    import aiogpu as gpu

    bases = np.array([-2, -2, -2, -8, 0, 0, -0.0, np.nan, 1], "f4")
    exponents = np.array([2, 3, -1, 1 / 3, 0, -1, -1, 0, np.nan], "f4")
    read = await (gpu.asarray(bases) ** gpu.asarray(exponents)).numpy()
    # Four units in the last place.
    assert_allclose(read, [4, -8, -0.5, np.nan, 1, np.inf, -np.inf, 1, 1], rtol=5e-7)
    values = np.array([0, -0.0, 1, -1, 2, -2, 0.5, -0.5, np.inf, -np.inf, np.nan, 3, -3], "f4")
    a, b = (grid.ravel() for grid in np.meshgrid(values, values))
    read = await gpu.pow(gpu.asarray(a), gpu.asarray(b)).numpy()
    with np.errstate(all="ignore"):
        assert_allclose(read, (a.astype("f8") ** b).astype("f4"), rtol=5e-7)
    a, b = np.meshgrid(np.arange(-5, 6, dtype="i4"), np.arange(8, dtype="i4"))
    assert_array_equal(await (gpu.asarray(a) ** gpu.asarray(b)).numpy(), a**b, strict=True)
    assert (await (gpu.asarray([2, 1, -1]) ** gpu.asarray([40, 40, 41])).tolist()) == [0, 1, -1]


@run_in_pyodide
async def test_integer_division_floors(selenium_worker):
    import numpy as np

    import aiogpu as gpu

    x = gpu.asarray(np.array([-7, 7, -7, 7, -1, -1, -5], "i4"))
    y = gpu.asarray(np.array([3, -3, -3, 3, 3, 768, 3], "i4"))
    rest, whole = await gpu.read(x % y, x // y)
    assert rest.tolist() == [2, -2, -1, 1, 2, 767, 1]
    assert whole.tolist() == [-3, -3, 2, 2, -1, -1, -2]
    big = gpu.asarray(np.array([2**32 - 1, 2**31], "u4"))
    assert (await (big // 7).tolist()) == [(2**32 - 1) // 7, 2**31 // 7]
    assert (await (big % 7).tolist()) == [(2**32 - 1) % 7, 2**31 % 7]


@run_in_pyodide
async def test_casts_truncate_saturate_and_wrap(selenium_worker):
    import numpy as np

    import aiogpu as gpu

    floats = [3.9, -3.9, 1e10, -1e10, 2**31, float("nan"), float("inf"), float("-inf"), 255.9, 300]
    x = gpu.asarray(floats, dtype=gpu.float32)
    top, bottom = 2**31 - 1, -(2**31)
    kinds = gpu.int32, gpu.uint32, gpu.uint8, gpu.bool, gpu.float32
    to_int, to_uint, to_byte, to_bool, same = await gpu.read(*(x.astype(kind) for kind in kinds))
    assert to_int.tolist() == [3, -3, top, bottom, top, 0, top, bottom, 255, 300]
    assert to_uint.tolist() == [3, 0, 2**32 - 1, 0, 2**31, 0, 2**32 - 1, 0, 255, 300]
    assert to_byte.tolist() == [3, 0, 255, 0, 255, 0, 255, 0, 255, 255]
    assert to_bool.tolist() == [True] * 10
    assert np.array_equal(same, np.array(floats, "f4"), equal_nan=True)
    whole = np.array([-1, 0, 255, 256, 2**31 - 1, -(2**31)], "i4")
    y = gpu.asarray(whole)
    for kind in ("uint32", "uint8", "bool", "float32"):
        assert (await y.astype(kind).tolist()) == whole.astype(kind).tolist()
    unsigned = gpu.asarray(np.array([2**32 - 1, 2**31, 5], "u4"))
    assert (await unsigned.astype("int32").tolist()) == [-1, -(2**31), 5]
    assert (await unsigned.astype("float32").tolist()) == [2.0**32, 2.0**31, 5]
    flags = gpu.asarray([True, False])
    assert (await flags.astype("float32").tolist()) == [1, 0]
    assert (await flags.astype("uint8").tolist()) == [1, 0]


@run_in_pyodide
async def test_tanh_saturates_and_keeps_nan(selenium_worker):
    import numpy as np

    import aiogpu as gpu

    nan, inf = float("nan"), float("inf")
    host = np.array(
        [0, 9.02, 43.7, 44, 44.36, 45, 88.8, 89, 1000, inf, -44, -1000, -inf, nan], "f4"
    )
    x = gpu.asarray(host)
    read, inside = await gpu.read(gpu.tanh(x), (1 + gpu.tanh(x)) * 0.5)
    assert read[0] == 0
    assert abs(read[1] - 1) <= np.spacing(np.float32(1))
    assert (read[2:10] == 1).all()
    assert (read[10:13] == -1).all()
    assert np.isnan(read[13])
    assert (inside[2:10] == 1).all()
    assert (inside[10:13] == 0).all()


@run_in_pyodide
async def test_nan_in_maximum_clip_and_where(selenium_worker):
    import numpy as np

    import aiogpu as gpu

    nan, inf = float("nan"), float("inf")
    x, y = gpu.array([1, nan, nan, 3.0]), gpu.array([nan, 1, nan, 2.0])
    v = gpu.array([nan, 1, nan, 2])
    numbers = gpu.array([inf, 0.5, 4, -38.8, nan])
    made = await gpu.read(
        gpu.maximum(x, y), gpu.minimum(x, y), gpu.maximum(gpu.array([nan, -1, 2]), 0),
        gpu.array([1, nan, 2]).max(), gpu.array([1, nan, 2]).min(),
        gpu.clip(gpu.array([nan, 2, -1]), 0, 1),
        gpu.where(gpu.isnan(v), 0, v), gpu.isnan(numbers), gpu.isinf(numbers), v != v,
    )  # fmt: skip
    wanted = (
        [nan, nan, nan, 3], [nan, nan, nan, 2], [nan, 0, 2], nan, nan, [nan, 1, 0], [0, 1, 0, 2],
        [False, False, False, False, True], [True, False, False, False, False],
        [True, False, True, False],
    )  # fmt: skip
    for read, value in zip(made, wanted, strict=True):
        assert np.array_equal(read, np.array(value, read.dtype), equal_nan=True)


@run_in_pyodide
async def test_where_and_clip_promote_and_broadcast(selenium_worker):
    import numpy as np
    import pytest
    from numpy.testing import assert_array_equal

    import aiogpu as gpu

    condition = np.array([[True], [False], [True]])
    a, b = np.arange(4, dtype="i4"), np.arange(12, dtype="f4").reshape(3, 4) / 4
    c = gpu.asarray(condition)
    for x, y, kind in ((a, b, "f4"), (b, 7, "f4"), (a, 7, "i4"), (a.astype("u1"), a, "i4")):
        wanted = np.where(condition, x, y).astype(kind)
        given = [gpu.asarray(v) if isinstance(v, np.ndarray) else v for v in (x, y)]
        assert_array_equal(await gpu.where(c, *given).numpy(), wanted, strict=True)
    wanted = np.where(b, a, 0)
    assert_array_equal(await gpu.where(gpu.asarray(b), gpu.asarray(a), 0).numpy(), wanted)
    x = gpu.asarray(a)
    assert (await gpu.clip(x, 1, 2).tolist()) == [1, 1, 2, 2]
    assert (await gpu.clip(x, min=2).tolist()) == [2, 2, 2, 3]
    assert (await gpu.clip(x, max=gpu.array([0, 5, 1, 5])).tolist()) == [0, 1, 1, 3]
    with pytest.raises(gpu.errors.DTypeError):
        gpu.where(c, x, gpu.ones(4, dtype="bool"))
    with pytest.raises(gpu.errors.UsageError):
        gpu.add(1, 2)
    with pytest.raises(gpu.errors.ShapeError, match="axis -1"):
        gpu.ones((2, 3)) + gpu.ones((2, 4))
