"""Python in script tags: run in order, shown where it stands."""

import pytest

HEAD = """<!doctype html><title>tags</title>
<script src="{base}/dist/aiogpu.iife.js" data-index-url="/build/pyodide/"></script>
"""

PAGE = """
<p id="before">before</p>
<script type="text/aiogpu">
  import aiogpu as gpu
  print("first")
  kept = await gpu.arange(4).sum().item()
</script>
<p id="between">between</p>
<script type="text/aiogpu" output="#there">
  import asyncio
  await asyncio.sleep(0.05)
  {"kept": kept, "list": [1, None]}
</script>
<script type="text/aiogpu" src="{base}/brought.py"></script>
<pre id="there"></pre>
<script type="text/aiogpu">
  1 / 0
</script>
<script type="text/aiogpu">
  print("never")
</script>
"""


@pytest.fixture
def opened(page, base_url):
    def open_(text):
        body = (HEAD + text).replace("{base}", base_url)
        page.context.route(
            "**/tags.html", lambda route: route.fulfill(body=body, content_type="text/html")
        )
        page.context.route("**/brought.py", lambda route: route.fulfill(body="kept + 1"))
        page.goto(f"{base_url}/tags.html")
        return page

    return open_


def test_blocks_run_in_order_and_show_what_they_did(opened):
    page = opened(PAGE)
    page.wait_for_selector(".aiogpu-error")
    texts = page.eval_on_selector_all(
        "body > *",
        "(all) => all.flatMap((it) => it.tagName === 'SCRIPT' ? [] : [it.innerText.trim()])",
    )
    before, first, *rest = texts
    printed, note = first.split("\n", 1)
    assert (before, printed) == ("before", "first")
    assert "computes in software" in note  # this machine's adapter does
    assert rest[:3] == ["between", "7", '{"kept":6,"list":[1,null]}']
    assert rest[3].startswith("Traceback (most recent call last):")
    assert rest[3].endswith("ZeroDivisionError: division by zero")
    assert rest[4:] == [""]


def test_block_without_a_gpu_says_why_where_it_stands(page, opened):
    page.add_init_script("delete Navigator.prototype.gpu;")
    opened('<script type="text/aiogpu">1</script>')
    page.wait_for_selector(".aiogpu-error")
    assert "no navigator.gpu" in page.inner_text(".aiogpu-error")
