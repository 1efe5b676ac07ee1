"""Each elementwise function against NumPy: every dtype that it takes or refuses, every shape."""

import pytest
from pytest_pyodide import run_in_pyodide


@run_in_pyodide
async def test_exact_functions_of_every_dtype(selenium_worker):
    import numpy as np
    import pytest

    import aiogpu as gpu
    from aiogpu import dtypes

    takes = {
        "uifc": ["negative", "positive", "real", "conj", "round"],
        "uif": ["abs", "sign", "square", "floor", "ceil", "trunc"],
        "c": ["imag"],
        "bui": ["bitwise_invert"],
        "buifc": ["isnan", "isinf", "isfinite", "logical_not"],
        "f": ["signbit"],
    }
    rng = np.random.default_rng(11)
    special = [0, -0.0, 0.5, 1.5, 2.5, -2.5, np.inf, -np.inf, np.nan, *rng.normal(0, 9, 91)]

    def samples(dtype):
        if dtype.kind in {"int", "uint"}:
            low, high = dtype.range
            numbers = [low, high, 0, 1, *rng.integers(low, high, 96, endpoint=True)]
            return np.array(numbers).astype(dtype.name)
        reals = np.array(special)
        if dtype.kind == "bool":
            return reals > 0
        return (reals if dtype.kind == "float" else reals + 1j * reals[::-1]).astype(dtype.name)

    cases, made = [], []
    for dtype in dtypes.ALL:
        host = samples(dtype)
        x = gpu.asarray(host)
        for kinds, names in takes.items():
            for name in names:
                if dtype.kind[0] in kinds:
                    cases.append((name, host))
                    made.append(getattr(gpu, name)(x))
                elif dtype.kind != "complex" or kinds != "uif" or name == "floor":
                    with pytest.raises(gpu.errors.DTypeError, match=name):
                        getattr(gpu, name)(x)
    for (name, host), read in zip(cases, await gpu.read(*made), strict=True):
        with np.errstate(all="ignore"):
            value = getattr(np, name)(host)
        value = value if value.dtype.kind == "b" else value.astype(read.dtype)
        dtype = "f4" if (name, host.dtype.kind) in {("real", "c"), ("imag", "c")} else host.dtype
        assert read.dtype == ("?" if value.dtype.kind == "b" else dtype), (name, host.dtype)
        np.testing.assert_array_equal(read, value, f"{name} {host.dtype}", strict=True)


@pytest.mark.driver_timeout(120)
@run_in_pyodide
async def test_elementary_functions_of_every_real_dtype(selenium_worker):
    from math import erf

    import numpy as np
    import pytest

    import aiogpu as gpu
    from aiogpu import dtypes
    from aiogpu.kernels.numerics.accuracy import ACCURACY

    functions = {
        "reciprocal": np.reciprocal, "exp": np.exp, "expm1": np.expm1, "log": np.log,
        "log1p": np.log1p, "log2": np.log2, "log10": np.log10, "sqrt": np.sqrt, "sin": np.sin,
        "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
        "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh,
        "acosh": lambda x: np.arccosh(np.where(x < 1, np.nan, x)),  # Pyodide's has values there
        "atanh": np.arctanh, "erf": np.vectorize(erf, otypes=["f8"]),
    }  # fmt: skip
    rng = np.random.default_rng(12)
    special = [0, -0.0, 1, -1, np.inf, -np.inf, np.nan]
    cases, made = [], []
    for dtype in dtypes.ALL:
        host = np.array([*special, *rng.normal(0, 2, 200)])
        if dtype.kind in {"int", "uint"}:
            few = rng.integers(max(dtype.range[0], -9), 9, 40)
            host = np.array([*dtype.range, *few, *rng.integers(*dtype.range, 160)])
        host = host.astype(dtype.name)
        x = gpu.asarray(host)
        for name in functions:
            if dtype.kind == "bool":
                with pytest.raises(gpu.errors.DTypeError, match=name):
                    getattr(gpu, name)(x)
            elif dtype.kind != "complex":
                cases.append((name, host if dtype.kind == "float" else host.astype("f4")))
                made.append(getattr(gpu, name)(x))
    for (name, host), read in zip(cases, await gpu.read(*made), strict=True):
        with np.errstate(all="ignore"):
            exact = functions[name](host.astype("f8"))
            right = exact.astype(host.dtype)
            # float16: right within a few units of float32, and then rounded.
            units = 1 if host.dtype == "f2" else ACCURACY[f"ag_{name}"][2]
            # Subnormal results may flush to zero.
            near = np.abs(read - exact) <= np.maximum(units * np.spacing(np.abs(right)), 1.2e-38)
        fine = near | (read == right) | (np.isnan(read) & np.isnan(right))
        assert read.dtype == host.dtype, name
        assert fine.all(), (name, host[~fine], read[~fine], exact[~fine])


@run_in_pyodide
async def test_functions_of_one_complex_number(selenium_worker):
    import numpy as np

    import aiogpu as gpu
    from aiogpu.kernels.numerics.accuracy import COMPLEX_ACCURACY

    renamed = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh"}
    renamed |= {"acosh": "arccosh", "atanh": "arctanh"}
    names = [
        "abs", "sign", "square", "reciprocal", "exp", "expm1", "log", "log1p", "log2", "log10",
        "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", *renamed,
    ]  # fmt: skip
    rng = np.random.default_rng(13)
    host = (rng.normal(0, 2, (20, 10)) + 1j * rng.normal(0, 2, (20, 10))).astype("c8")
    x = gpu.asarray(host)
    made = [getattr(gpu, name)(x) for name in names]
    wide = host.astype("c16")
    for name, read in zip(names, await gpu.read(*made), strict=True):
        # NumPy's log1p loses digits near -1.
        exact = np.log(1 + wide) if name == "log1p" else getattr(np, renamed.get(name, name))(wide)
        assert read.dtype == ("f4" if name == "abs" else "c8"), name
        units = np.abs(read - exact) / np.abs(exact) * 2**24
        assert units.max() <= COMPLEX_ACCURACY[f"ag_c{name}"][1], name


@run_in_pyodide
async def test_exact_functions_of_two_of_every_dtype(selenium_worker):  # noqa: C901 - shipped whole
    import numpy as np
    import pytest

    import aiogpu as gpu
    from aiogpu import dtypes

    takes = {
        "uifc": ["add", "subtract"],
        "ui": ["multiply", "pow", "bitwise_left_shift", "bitwise_right_shift"],
        "uif": ["floor_divide", "remainder"],
        "buif": ["maximum", "minimum", "less", "less_equal", "greater", "greater_equal"],
        "buifc": ["equal", "not_equal", "logical_and", "logical_or", "logical_xor"],
        "bui": ["bitwise_and", "bitwise_or", "bitwise_xor"],
        "f": ["copysign", "nextafter"],
    }
    rng = np.random.default_rng(14)

    def samples(dtype, shape):
        if dtype.kind in {"int", "uint"}:
            mixed = rng.integers(*dtype.range, shape, endpoint=True)
            return np.where(rng.random(shape) < 0.5, mixed % 7, mixed).astype(dtype.name)
        reals = rng.integers(-30, 30, shape) / 4  # sums and whole quotients are exact
        if dtype.kind == "bool":
            return reals > 0
        return (reals if dtype.kind == "float" else reals + 1j * reals[::-1]).astype(dtype.name)

    def right(name, a, b):
        with np.errstate(all="ignore"):
            value = getattr(np, name)(a, b)
        if a.dtype.kind in "iu" and name in {"floor_divide", "remainder"}:
            value = np.where(b == 0, 0, value)
        return value if value.dtype.kind == "b" else value.astype(a.dtype)

    values, made = [], []
    for dtype in dtypes.ALL:
        for name, kinds in [(name, each) for each in takes for name in takes[each]]:
            a, b = samples(dtype, (4, 1, 6)), samples(dtype, (3, 1))
            if name == "pow" or "shift" in name:
                b = np.array([[0], [1], [5]], dtype.name)
            x, y = gpu.asarray(a), gpu.asarray(b)
            if dtype.kind[0] in kinds:
                values.append((f"{name} {dtype.name}", right(name, a, b)))
                made.append(getattr(gpu, name)(x, y))
            elif kinds != "ui" or "shift" in name:  # the rest is compared with tolerances below
                with pytest.raises(gpu.errors.DTypeError, match=name):
                    getattr(gpu, name)(x, y)
    for (what, value), read in zip(values, await gpu.read(*made), strict=True):
        np.testing.assert_array_equal(read, value, what, strict=True)


@run_in_pyodide
async def test_inexact_functions_of_two_of_every_dtype(selenium_worker):
    import numpy as np
    import pytest
    from numpy.testing import assert_allclose

    import aiogpu as gpu
    from aiogpu import dtypes
    from aiogpu.kernels.numerics.accuracy import ACCURACY

    functions = {
        "divide": np.divide, "hypot": np.hypot, "atan2": np.arctan2, "logaddexp": np.logaddexp,
        "pow": np.power, "multiply": np.multiply,
    }  # fmt: skip
    bounds = {"divide": "div_f32", "pow": "pow_f32"}
    rng = np.random.default_rng(15)
    cases, made = [], []
    for dtype in dtypes.ALL:
        reals = [rng.uniform(0.5, 4, shape) for shape in ((4, 1, 6), (3, 1))]
        if dtype.kind == "complex":
            reals = [host + 1j * rng.normal(0, 1, host.shape) for host in reals]
        hosts = [host.astype(dtype.name) for host in reals]
        single = [
            host if dtype.kind in {"float", "complex"} else host.astype("f4") for host in hosts
        ]
        for name in functions:
            of_floats = name in {"pow", "multiply"}
            if dtype.kind == "bool" and name != "divide":
                with pytest.raises(gpu.errors.DTypeError, match=name):
                    getattr(gpu, name)(*map(gpu.asarray, hosts))
            elif (
                dtype.kind == "float"
                or (dtype.kind == "complex" and (of_floats or name == "divide"))
                or (dtype.kind in {"bool", "int", "uint"} and not of_floats)
            ):
                cases.append((name, single))
                made.append(getattr(gpu, name)(*map(gpu.asarray, hosts)))
    for (name, (a, b)), read in zip(cases, await gpu.read(*made), strict=True):
        wide = "c16" if a.dtype.kind == "c" else "f8"
        exact = functions[name](a.astype(wide), b.astype(wide))
        units = ACCURACY.get(f"ag_{bounds.get(name, name)}", (0, 0, 0.5))[2]
        # float16 rounds what float32 gives; complex numbers have up to 5 units (COMPLEX_ACCURACY).
        bound = {"f2": 1.1 * 2**-11, "f4": units * 2**-23, "c8": 5 * 2**-23}[a.dtype.str[1:]]
        assert (read.dtype, read.shape) == (a.dtype, exact.shape), name
        assert_allclose(read, exact, rtol=bound, err_msg=f"{name} {a.dtype}")


@run_in_pyodide
async def test_copysign_and_nextafter_of_special_values(selenium_worker):
    import numpy as np

    import aiogpu as gpu

    for dtype, bits in (("f4", "u4"), ("f2", "u2")):
        info = np.finfo(dtype)
        values = [0, 1, 1.5, 2, 65504, info.max, info.tiny, np.inf, np.nan]
        with np.errstate(over="ignore"):
            values = np.array([*values, *(-value for value in values)], dtype)
        a, b = (grid.ravel() for grid in np.meshgrid(values, values))
        x, y = gpu.asarray(a), gpu.asarray(b)
        signed, after = await gpu.read(gpu.copysign(x, y), gpu.nextafter(x, y))
        np.testing.assert_array_equal(signed.view(bits), np.copysign(a, b).view(bits))
        wanted = np.nextafter(a, b)
        is_nan = np.isnan(wanted)
        np.testing.assert_array_equal(np.isnan(after), is_nan)
        np.testing.assert_array_equal(after.view(bits)[~is_nan], wanted.view(bits)[~is_nan])
        both = await gpu.read(gpu.copysign(2.0, y), gpu.copysign(x, -1.0))
        np.testing.assert_array_equal(both[0], np.copysign(np.asarray(2, dtype), b), strict=True)
        np.testing.assert_array_equal(both[1].view(bits), np.copysign(a, -1).view(bits))


@pytest.mark.driver_timeout(120)
@run_in_pyodide
async def test_every_function_of_every_shape(selenium_worker):
    import numpy as np
    from numpy.testing import assert_allclose

    import aiogpu as gpu

    unary = {
        "i2": ["negative", "positive", "sign", "square", "conj", "floor", "round", "trunc", "ceil"],
        "f4": [
            "abs", "reciprocal", "exp", "expm1", "log", "log1p", "log2", "log10", "sqrt", "sin",
            "cos", "tan", "atan", "sinh", "cosh", "tanh", "asinh", "real", "isnan", "signbit",
        ],
        "u1": ["bitwise_invert"], "?": ["logical_not"], "f2": ["isinf"], "c8": ["imag", "isfinite"],
    }  # fmt: skip
    binary = {
        "i4": ["add", "subtract", "multiply", "maximum", "minimum", "less", "equal"],
        "f4": ["divide", "floor_divide", "remainder", "pow", "hypot", "logaddexp", "atan2"],
        "f2": ["copysign", "nextafter", "greater_equal"],
        "u1": ["bitwise_and", "bitwise_or", "bitwise_left_shift", "bitwise_right_shift"],
        "u2": ["not_equal", "greater", "less_equal", "logical_and", "logical_or", "logical_xor"],
        "?": ["bitwise_xor"],
    }
    renamed = {"atan": "arctan", "asinh": "arcsinh", "atan2": "arctan2"}
    rng = np.random.default_rng(13)
    shapes = [(), (0,), (3, 0), (1,), (5,), (4, 6), (2, 3, 4), (2, 1, 2, 1, 3, 1, 2, 2)]

    def operands(dtype):
        for shape in shapes:
            host = rng.integers(1, 7, shape).astype(dtype)
            yield gpu.asarray(host), host
        host = rng.integers(1, 7, (4, 6, 5)).astype(dtype)
        x = gpu.asarray(host)
        yield x[::-2, 1:5:3].mT, host[::-2, 1:5:3].swapaxes(1, 2)
        yield gpu.broadcast_to(x[0, :, :1], (3, 6, 2)), np.broadcast_to(host[0, :, :1], (3, 6, 2))
        yield x[1, ..., None, ::2], host[1, ..., None, ::2]

    cases, made = [], []
    for dtype, name in [(each, name) for each in unary for name in unary[each]]:
        for x, host in operands(dtype):
            cases.append((name, getattr(np, renamed.get(name, name))(host)))
            made.append(getattr(gpu, name)(x))
    for dtype, name in [(each, name) for each in binary for name in binary[each]]:
        for x, host in operands(dtype):
            other = rng.integers(1, 4, host.shape[-1:]).astype(dtype)
            cases.append((name, getattr(np, renamed.get(name, name))(host, other)))
            made.append(getattr(gpu, name)(x, gpu.asarray(other)))
    for (name, value), read in zip(cases, await gpu.read(*made), strict=True):
        assert (read.dtype, read.shape) == (value.dtype, value.shape), name
        # Four units in the last place of float32, the most of any elementary function; and what
        # NumPy's own lose.
        inexact = {"rtol": 1e-6} if value.dtype == "f4" else {"rtol": 0}
        assert_allclose(read, value, err_msg=f"{name} {value.shape}", **inexact)


@run_in_pyodide
async def test_clip_where_and_bits_with_numbers(selenium_worker):
    import numpy as np
    import pytest
    from numpy.testing import assert_array_equal

    import aiogpu as gpu
    from aiogpu import dtypes

    rng = np.random.default_rng(14)
    for dtype in dtypes.ALL:
        host = rng.integers(0, 9, (3, 1, 4)).astype(dtype.name)
        other = rng.integers(0, 9, (5, 1)).astype(dtype.name)
        flags = rng.integers(0, 2, (5, 4)).astype("?")
        x, y, mask = gpu.asarray(host), gpu.asarray(other), gpu.asarray(flags)
        got = await gpu.read(gpu.where(mask, x, y), gpu.where(mask[:, ::-1], x[:, :, ::-1], y))
        assert_array_equal(got[0], np.where(flags, host, other), strict=True)
        wanted = np.where(flags[:, ::-1], host[:, :, ::-1], other)
        assert_array_equal(got[1], wanted, strict=True)
        if dtype.kind == "complex":
            with pytest.raises(gpu.errors.DTypeError):
                gpu.clip(x, x, y)
            continue
        high = gpu.asarray(flags.astype(dtype.name))
        got = await gpu.read(
            gpu.clip(x), gpu.clip(x, y), gpu.clip(x, None, high), gpu.clip(x, y, high),
        )  # fmt: skip
        low, top = other, flags.astype(dtype.name)
        wanted = host, np.maximum(host, low), np.minimum(host, top), np.clip(host, low, top)
        for read, value in zip(got, wanted, strict=True):
            assert_array_equal(read, value, strict=True)
        if dtype.kind != "bool":
            got = await gpu.clip(x, 2, 5).numpy()
            assert_array_equal(got, np.clip(host, 2, 5), strict=True)
        if dtype.kind in {"int", "uint"}:
            got = await gpu.read(
                gpu.bitwise_and(x, 6), gpu.bitwise_or(1, x), gpu.bitwise_xor(x, 3),
                gpu.bitwise_left_shift(x, 4), gpu.bitwise_right_shift(x, 1),
            )  # fmt: skip
            wanted = host & 6, 1 | host, host ^ 3, host << 4, host >> 1
            for read, value in zip(got, wanted, strict=True):
                assert_array_equal(read, value, strict=True)
            with pytest.raises(gpu.errors.IntegerOverflowError):
                gpu.clip(x, 0, 2**40)
    floats = gpu.asarray(np.array([np.nan, -np.inf, np.inf, 0.25], "f4"))
    got = await gpu.clip(floats, -1, 1.0).tolist()
    assert np.isnan(got[0])
    assert got[1:] == [-1, 1, 0.25]
    assert (await gpu.clip(gpu.asarray([1, 5]), 1.5).numpy()).tolist() == [1.5, 5]
    with pytest.raises(gpu.errors.UsageError, match="at least one array"):
        gpu.sin(1j)
