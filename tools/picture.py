"""Draws a landscape and takes README's picture: the demo page with that drawing.

Run by hand when the page's looks change. The drawing is made here, so the picture may be committed.
"""

import math
import random
from pathlib import Path

from PIL import Image, ImageDraw
from playwright.sync_api import sync_playwright

import chromium
import serve

ROOT = Path(__file__).resolve().parent.parent
DRAWING = ROOT / "build" / "demo" / "drawing.png"
TARGET = ROOT / "docs" / "images" / "demo.png"
SIZE = (960, 640)
SCALE = 2  # drawn larger, for smooth edges


def ridge(width: int, base: float, height: float, seed: int) -> list[tuple[float, float]]:
    """A mountain ridge: a sum of sines with random phases."""
    chance = random.Random(seed)
    waves = [(chance.uniform(0, 7), 2.0**k, height / 1.7**k) for k in range(1, 8)]
    return [
        (x, base - sum(a * abs(math.sin(p + f * x / width * 2)) for p, f, a in waves))
        for x in range(0, width + 1, 2)
    ]


def draw() -> Image.Image:
    """Sky, sun, three ridges, trees and a lake."""
    width, height = (SCALE * size for size in SIZE)
    image = Image.new("RGB", (width, height))
    pen = ImageDraw.Draw(image)
    for y in range(height):
        t = y / height
        pen.line((0, y, width, y), (int(60 + 190 * t), int(120 + 80 * t), int(190 - 40 * t)))
    sun, radius = (width * 0.68, height * 0.3), height * 0.09
    pen.ellipse(
        (sun[0] - radius, sun[1] - radius, sun[0] + radius, sun[1] + radius), (255, 236, 170)
    )
    colours = ((126, 128, 168), (84, 96, 134), (48, 66, 92))
    for layer, colour in enumerate(colours):
        base = height * (0.62 + 0.06 * layer)
        line = ridge(width, base, height * (0.24 - 0.05 * layer), 5 + layer)
        pen.polygon([(0, height), *line, (width, height)], colour)
    lake = height * 0.76
    pen.rectangle((0, lake, width, height), (70, 110, 140))
    chance = random.Random(3)
    for _ in range(160):
        left, level = chance.uniform(0, width), chance.uniform(lake + 8, height)
        pen.line((left, level, left + (level - lake) * 0.5 + 20, level), (112, 152, 176), 3)
    for _ in range(46):
        stem, foot = chance.uniform(0, width), lake + chance.uniform(-6, 26)
        tall = chance.uniform(0.07, 0.15) * height
        for part in range(4):
            top, half = foot - tall * (1 - part * 0.16), tall * (0.10 + 0.05 * part)
            pen.polygon(
                [(stem, top), (stem - half, top + tall * 0.34), (stem + half, top + tall * 0.34)],
                (22, 52 + 8 * part, 48),
            )
    return image.resize(SIZE, Image.Resampling.LANCZOS)


def main() -> None:
    """Write the drawing and the picture."""
    DRAWING.parent.mkdir(parents=True, exist_ok=True)
    draw().save(DRAWING)
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    with serve.serving() as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium.find_chromium(), args=list(chromium.FLAGS)
        )
        page = browser.new_page(viewport={"width": 1280, "height": 660})
        page.goto(f"{server.url}/web/demo/index.html?photo=/build/demo/drawing.png")
        page.get_by_text("Done").wait_for(timeout=120_000)
        page.screenshot(path=TARGET)
        browser.close()
    print(f"{TARGET.relative_to(ROOT)}: {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main()
