"""Sums of products by named axes, against NumPy's."""

import pytest
from pytest_pyodide import run_in_pyodide


@pytest.mark.driver_timeout(120)
@run_in_pyodide
async def test_every_form_of_subscripts(selenium_worker):
    import numpy as np
    from numpy.testing import assert_array_equal

    import aiogpu as gpu

    rng = np.random.default_rng(1)
    sizes = dict(zip("abcdefghijklm", (2, 3, 4, 5, 3, 2, 4, 2, 3, 4, 5, 2, 3), strict=True))
    pairs = []
    for text in (
        "ij,jk->ik", "ij,jk", "ii", "ii->i", "ij->ji", "ij->", "ij->j", "i,i", "i,i->i", "i,j->ij",
        "ij,ij->", "ij,ij->i", "ij,kj->ik", "bij,bjk->bik", "...ij,...jk->...ik", "...ij,jk",
        "ij,jk,kl->il", "ij,jk,kl,lm", "abc,abd->cd", "abcd,cbe->ade", "iij->ij", "iij,jk->k",
        "...i->...", "...,...", "i...->...i", "ab,cd,ef->", "abc,cd,de,ea->b", "ba", "bca",
        "i,ij,j", "...ii->...i", "ij,j", "aab,bcc->", "ab,ab,ab->ab", "ab,bc,cd->dba",
        " i j , j k -> k i", "ij,...->...ij", "j...i,ik...->...kj",
    ):  # fmt: skip
        operands = []
        for part in "".join(text.split()).split("->")[0].split(","):
            shape = [
                size
                for letter in part.replace("...", ".")
                for size in ((2, 3) if letter == "." else (sizes[letter],))
            ]
            operands.append(rng.integers(-4, 5, shape).astype("f4"))
        made = gpu.einsum(text, *(gpu.asarray(a) for a in operands))
        pairs.append((text, made, np.einsum(text, *operands)))
    before = gpu.counters()["reads"]
    reads = await gpu.read(*(made for _, made, _ in pairs))
    assert gpu.counters()["reads"] == before + len(pairs)
    for (text, _, wanted), read in zip(pairs, reads, strict=True):
        # Sums of products of small integers are exact in float32.
        assert_array_equal(read, wanted, err_msg=text)
        assert read.shape == wanted.shape, text


@run_in_pyodide
async def test_dtypes_views_and_axes_of_size_one(selenium_worker):
    import numpy as np
    from numpy.testing import assert_allclose, assert_array_equal

    import aiogpu as gpu

    rng = np.random.default_rng(2)
    for dtype in ("i1", "u1", "i4", "u4"):
        info = np.iinfo(dtype)
        a = rng.integers(info.min, info.max, (20, 20), dtype, endpoint=True)
        for text in ("ij,jk->ki", "ij,ij->i"):
            read = await gpu.einsum(text, gpu.asarray(a), gpu.asarray(a)).numpy()
            assert_array_equal(read, np.einsum(text, a, a), strict=True)
        assert_array_equal(await gpu.einsum("ij->i", gpu.asarray(a)).numpy(), np.einsum("ij->i", a))
    z = (rng.normal(size=(3, 1, 4)) + 1j).astype("c8")
    b = rng.normal(size=(3, 5, 4)).astype("f4")
    for text in ("abc,adc->bd", "abc,abc->ab", "abc,abc->ba"):
        read = await gpu.einsum(text, gpu.asarray(z), gpu.asarray(b)).numpy()
        assert_allclose(read, np.einsum(text, z, b), atol=1e-5)
    half = gpu.full((4096,), 1.0, dtype="float16")
    assert await gpu.einsum("i,i", half, half).item() == 4096  # accumulates in float32
    x = gpu.asarray(b)[:, ::-2, 1:]
    read = await gpu.einsum("ijk,ilk->jl", x, x).numpy()
    assert_allclose(read, np.einsum("ijk,ilk->jl", b[:, ::-2, 1:], b[:, ::-2, 1:]), atol=1e-5)
    assert (await gpu.einsum("ij,jk", gpu.zeros((2, 0)), gpu.zeros((0, 3))).numpy()).sum() == 0


@run_in_pyodide
async def test_a_matrix_product_is_one_launch(selenium_worker):
    import numpy as np

    import aiogpu as gpu

    a, b = (gpu.asarray(np.ones((9, 9), "f4")) for _ in range(2))
    before = gpu.counters()["dispatches"]
    await gpu.einsum("ij,kj->ki", a, b).numpy()
    await gpu.einsum("ii->i", a).sum().item()
    assert gpu.counters()["dispatches"] <= before + 3  # a product, its transpose, a sum


@run_in_pyodide
async def test_subscripts_that_cannot_be(selenium_worker):
    import pytest

    import aiogpu as gpu

    x = gpu.ones((2, 3))
    for text, *operands in (
        ("ij,jk", x), ("ij", x, x), ("ijk", x), ("i", x), ("ij->ik", x), ("ij->ii", x), ("i1", x),
        ("i......j", x), ("ij->...k", x), ("",),
    ):  # fmt: skip
        with pytest.raises(gpu.errors.UsageError):
            gpu.einsum(text, *operands)
    with pytest.raises(gpu.errors.ShapeError, match="axis 'j' of sizes 3 and 2"):
        gpu.einsum("ij,jk", x, x)
    with pytest.raises(gpu.errors.DTypeError):
        gpu.einsum("ij", x.astype("bool"))
