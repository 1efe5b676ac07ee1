"""Generators as streams: pulled one by one, closed by either side."""

GENERATOR = """
log = []
async def numbers(count):
    try:
        for number in range(count):
            log.append(number)
            yield number
    finally:
        log.append("closed")
"""


async def pull(page, stream):
    page.last_id += 1
    page.send({"type": "next", "id": page.last_id, "stream": stream})
    return (await page.door.next("done"))["value"]


async def test_nothing_runs_ahead_of_the_page(page):
    await page.value(GENERATOR)
    value = await page.value("[numbers(2)]")
    assert value == [{"$": "stream", "stream": 1}]
    assert await page.value("log") == []
    assert await pull(page, 1) == [0]
    assert await page.value("log") == [0]
    assert await pull(page, 1) == [1]
    assert await pull(page, 1) == []
    assert await page.value("log") == [0, 1, "closed"]
    assert len(page.session._streams) == 0


async def test_plain_generator_is_a_stream_too(page):
    await page.value("(2 * k for k in range(2))")
    assert [await pull(page, 1) for _ in range(3)] == [[0], [2], []]


async def test_stopped_stream_runs_its_finally(page):
    await page.value(GENERATOR)
    await page.value("numbers(9)")
    await pull(page, 1)
    page.send({"type": "stop", "stream": 1})
    assert await page.value("log") == [0, "closed"]
    page.send({"type": "next", "id": 99, "stream": 1})
    assert (await page.door.next("error"))["error"]["code"] == "usage"


async def test_exception_ends_the_stream(page):
    await page.value("(1 / k for k in [0])")
    page.send({"type": "next", "id": 99, "stream": 1})
    assert (await page.door.next("error"))["error"]["name"] == "ZeroDivisionError"
    assert len(page.session._streams) == 0


async def test_end_of_the_page_closes_its_streams(page):
    await page.value(GENERATOR)
    await page.value("numbers(9)")
    await pull(page, 1)
    page.send({"type": "close"})
    await page.door.next("closed")
    assert page.session._namespace["log"] == [0, "closed"]
