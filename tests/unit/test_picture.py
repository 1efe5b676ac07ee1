import io

import pytest
from PIL import Image

import aiogpu as gpu
from aiogpu import picture
from aiogpu.errors import UsageError


@pytest.mark.parametrize(("channels", "mode"), [(1, "L"), (3, "RGB")])
def test_png_gives_the_pixels_back(channels, mode):
    data = bytes(range(5 * 4 * channels))
    made = picture.encode(data, 5, 4, channels)
    with Image.open(io.BytesIO(made)) as opened:
        opened.load()
        assert (opened.mode, opened.size, opened.tobytes()) == (mode, (5, 4), data)
    assert repr(made) == f"<aiogpu.Picture 5 x 4, {len(made)} bytes of PNG>"
    assert made._repr_png_() == bytes(made)


async def test_canvas_gives_a_png_of_what_it_shows(host):
    canvas = gpu.Canvas()
    with pytest.raises(UsageError, match="nothing was shown"):
        await canvas.png()
    canvas.show(gpu.ones((4, 6, 4)).copy())
    await gpu.synchronize()
    with Image.open(io.BytesIO(await canvas.png())) as opened:
        assert (opened.mode, opened.size) == ("RGB", (6, 4))


@pytest.mark.parametrize("shape", [(3,), (2, 2, 1), (2, 2, 2), (0, 3), (1, 2, 3, 3)])
def test_other_shapes_are_no_pictures(shape):
    with pytest.raises(UsageError, match="shape"):
        picture.check(shape, gpu.float32, "show")
    with pytest.raises(UsageError, match="int32"):
        picture.check((2, 2), gpu.int32, "show")
