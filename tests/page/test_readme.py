"""What README shows, run: the page, and the Python."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text("utf-8")
CDN = re.compile(r"https://cdn\.jsdelivr\.net/pyodide/v[\d.]+/full/(.*)")
LANGUAGES = {"html", "python", "text", "sh"}


def blocks(language):
    """The code blocks of a language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


@pytest.fixture
def offline(page):
    """Pyodide's CDN, answered from build/pyodide: this machine may have no network."""

    def answer(route):
        name = CDN.match(route.request.url)[1]
        route.fulfill(
            path=ROOT / "build/pyodide" / name, headers={"access-control-allow-origin": "*"}
        )

    page.context.route(CDN, answer)
    return page


def test_page_shows_what_readme_says(offline, base_url):
    (source,) = blocks("html")
    assert len(source.splitlines()) <= 12
    offline.context.route(
        f"{base_url}/readme.html",
        lambda route: route.fulfill(body=source, content_type="text/html"),
    )
    offline.goto(f"{base_url}/readme.html")
    offline.wait_for_function("document.querySelector('p').textContent !== ''")
    assert offline.text_content("p") == blocks("text")[0].strip()


def test_python_prints_what_readme_says(page, base_url):
    (source,) = blocks("python")
    page.goto(f"{base_url}/README.md")
    printed = page.evaluate(
        """async ([source, indexURL]) => {
          const { connect } = await import("/web/index.js");
          const gpu = await connect({ indexURL, packages: ["numpy"] });
          let text = "";
          gpu.addEventListener("stdout", (event) => { text += event.detail + "\\n"; });
          await gpu.run(source);
          await gpu.close();
          return text;
        }""",
        [source, f"{base_url}/build/pyodide/"],
    )
    assert printed.strip() == blocks("text")[1].strip()


def test_every_block_is_of_a_known_language():
    found = set(re.findall(r"^```(\w+)$", README, re.MULTILINE))
    assert found == LANGUAGES  # a block in another language would not be run
