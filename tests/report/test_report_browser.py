"""The page in a browser: drawn, alive, and silent on the network.

Runs with Chromium, wherever it is on the PATH or where Playwright put its own; with
``SRSG_INSTALL_BROWSER=1`` a root user's apt-get is asked for one. ``SRSG_SCREENSHOTS`` names a
folder to keep the screenshots in.
"""

from __future__ import annotations

import base64
import io
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from srsg import SRSG, RidgeGraph, StabilitySearch
from srsg.report import write_report

playwright = pytest.importorskip("playwright.sync_api", reason="the browser tests need playwright")
image = pytest.importorskip("PIL.Image", reason="pillow reads the screenshots")

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
# Software rendering, so that WebGL is there without a graphics card.
ARGUMENTS = ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
WINE = load_wine(as_frame=True).data
SIZES = {"wide": (1400, 900), "narrow": (390, 844)}


def find_browser(own):
    """The path of a browser, or None."""
    on_path = next(filter(None, map(shutil.which, NAMES)), None)
    if on_path or Path(own).exists():
        return on_path or own
    apt = shutil.which("apt-get")
    if apt and os.environ.get("SRSG_INSTALL_BROWSER") == "1" and os.geteuid() == 0:
        for command in ("update", "install --yes chromium"):
            subprocess.run([apt, "--quiet", *command.split()], check=False, timeout=300)
    return shutil.which("chromium")


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        path = find_browser(driver.chromium.executable_path)
        if path is None:
            pytest.skip("no Chromium: put one on the PATH, or set SRSG_INSTALL_BROWSER=1 as root")
        sandbox = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        opened = driver.chromium.launch(executable_path=path, args=[*ARGUMENTS, *sandbox])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """A page of pictures, one of a table, and one of a search."""
    folder = tmp_path_factory.mktemp("reports")
    X, y = load_digits(return_X_y=True)
    model = SRSG(10, random_state=0).fit(X)
    write_report(folder / "digits.html", model, X, y=y, image_shape=(8, 8), title="Digits")
    table = load_breast_cancer(as_frame=True)
    model = SRSG(2, random_state=0).fit(table.data)
    names = table.target_names
    write_report(folder / "table.html", model, table.data, y=table.target, class_names=names)
    write_report(folder / "search.html", searched(), WINE)
    return {name: (folder / f"{name}.html").as_uri() for name in ("digits", "table", "search")}


def searched():
    """A search whose page has all that the page of a search can have."""
    candidates = {
        "ridge, standardised, affine": make_pipeline(StandardScaler(), RidgeGraph(affine=True)),
        "ridge": RidgeGraph(),
    }
    search = StabilitySearch(candidates, n_clusters=3, random_state=0).fit(WINE)
    model = make_pipeline(StandardScaler(), RidgeGraph("auto", affine=True, random_state=0))
    search.best_estimator_ = model.fit(WINE)
    search.structure_found_ = False
    return search


@pytest.fixture
def visit(browser, reports):
    """Opens a page; at the end, nothing may have gone wrong or left the page."""
    complaints, requests, contexts = [], [], []

    def opened(name, size="wide", scheme="light"):
        width, height = SIZES[size]
        view = {"width": width, "height": height}
        context = browser.new_context(viewport=view, color_scheme=scheme, reduced_motion="reduce")
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(reports[name])
        painted(page)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not complaints
    assert all(url.startswith(("file:", "data:")) for url in requests)


def painted(page):
    """Wait until what was asked for is on the screen."""
    page.evaluate(
        "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )


def map_pixels(page, canvas="points"):
    """What is drawn of the points: red, green, blue and opacity."""
    uri = page.evaluate(f"document.getElementById('{canvas}').toDataURL()")
    return decoded(base64.b64decode(uri.partition(",")[2]), "RGBA")


def decoded(png, mode):
    return np.asarray(image.open(io.BytesIO(png)).convert(mode)).astype(int)


def colours(picture):
    """How many clearly coloured pixels there are."""
    return int((np.ptp(picture[..., :3], axis=2) > 60).sum())


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", ["digits", "table", "search"])
def test_page_is_drawn_and_fits(name, size, scheme, visit, tmp_path):
    page = visit(name, size, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= SIZES[size][0]
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, ground[4:-1].split(","))) > 380) == (scheme == "light")
    assert page.evaluate("document.getElementById('points').getContext('webgl') !== null")
    screen = page.screenshot(full_page=True)
    folder = Path(os.environ.get("SRSG_SCREENSHOTS", tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}-{size}-{scheme}.png").write_bytes(screen)
    seen = decoded(screen, "RGB")

    def part(selector):
        box = page.locator(selector).first.bounding_box()
        left, top = round(box["x"]), round(box["y"])
        return seen[top : top + round(box["height"]), left : left + round(box["width"])]

    assert colours(part("#map-area")) > 2000
    assert colours(part(".graph")) > 300
    assert colours(part(".chart")) > 50
    if name == "digits":
        assert np.ptp(part(".tile")) > 150
    if name == "search":
        assert np.ptp(part("#choice .warning").mean(axis=(0, 1))) > 15  # red
        assert page.locator("#choice .chart").count() == 1
        name_cell = page.locator("#choice tbody th").first.bounding_box()
        assert name_cell["width"] < SIZES[size][0] / 2  # leaves room for the scores beside it


def place_of(page, point):
    """Where a point is on the screen, after finding it by its row."""
    page.fill("#row", str(point))
    page.press("#row", "Enter")
    page.locator("#map-area").scroll_into_view_if_needed()
    painted(page)
    box = page.locator("#points").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


@pytest.mark.parametrize(("name", "words"), [("digits", "class 0"), ("table", "class malignant")])
def test_hover_tells_about_a_point(name, words, visit):
    page = visit(name)
    assert page.locator("#tip").is_hidden()
    x, y = place_of(page, 0)
    page.mouse.move(x, y)
    tip = page.locator("#tip")
    tip.wait_for(state="visible")
    text = tip.inner_text()
    assert "row 0" in text
    assert words in text
    assert "confidence" in text
    assert tip.locator(".thumb").count() == (name == "digits")
    page.mouse.move(1, 1)
    tip.wait_for(state="hidden")


def test_colours_switch(visit):
    page = visit("digits")
    seen = [map_pixels(page)]
    for mode in ("class", "confidence"):
        page.click(f"[data-colour={mode}]")
        painted(page)
        assert page.get_attribute(f"[data-colour={mode}]", "aria-pressed") == "true"
        seen.append(map_pixels(page))
    for first in range(3):
        for second in range(first):
            assert (seen[first] != seen[second]).any(axis=2).sum() > 1000
    assert "no confidence" in page.inner_text("#legend")


def test_legend_shows_one_cluster_only(visit):
    page = visit("digits")
    before = colours(map_pixels(page))
    page.click("#legend button >> nth=0")
    painted(page)
    assert 100 < colours(map_pixels(page)) < before / 3


def test_keyboard_wheel_and_drag_move_the_map(visit):
    page = visit("digits")
    page.focus("#points")
    views = [map_pixels(page)]

    def changed():
        painted(page)
        views.append(map_pixels(page))
        return (views[-1] != views[-2]).any(axis=2).sum() > 1000

    for key in ("ArrowLeft", "+", "-", "0"):
        page.keyboard.press(key)
        assert changed(), key
    page.keyboard.press("n")
    assert page.inner_text("#picked").startswith("Chosen: row 0, cluster")
    page.keyboard.press("n")
    assert page.inner_text("#picked").startswith("Chosen: row 1, cluster")
    page.keyboard.press("Escape")
    assert page.inner_text("#picked") == "No point chosen."
    box = page.locator("#points").bounding_box()
    page.mouse.move(box["x"] + 300, box["y"] + 200)
    page.mouse.wheel(0, -400)
    assert changed()
    page.mouse.down()
    page.mouse.move(box["x"] + 400, box["y"] + 260, steps=3)
    page.mouse.up()
    assert changed()
    page.click("[data-zoom=all]")
    assert changed()


def test_members_and_search_lead_to_the_map(visit):
    page = visit("digits")
    tile = page.locator("[data-point] >> nth=5")
    tile.click()
    assert page.inner_text("#picked").startswith(f"Chosen: row {tile.get_attribute('data-point')},")
    page.fill("#row", "nobody")
    page.click("#find button")
    assert "There is no row “nobody”." in page.inner_text("#picked")


def test_button_switches_between_light_and_dark(visit):
    page = visit("table")
    assert page.inner_text("#theme") == "Dark"
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.click("#theme")
    assert page.inner_text("#theme") == "Light"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before


def test_first_tab_skips_to_the_summary(visit):
    page = visit("table")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.url.endswith("#summary")


def test_page_prints(visit):
    page = visit("table", scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.locator("nav").is_hidden()
    assert page.locator(".toolbar").is_hidden()
    assert len(page.pdf()) > 20_000
    # WebGL is not printed: the points must be on the plain canvas, on white ground, and go again.
    assert colours(map_pixels(page, "marks")) == 0
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert colours(map_pixels(page, "marks")) > 2000
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert colours(map_pixels(page, "marks")) == 0
