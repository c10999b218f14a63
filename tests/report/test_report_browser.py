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
SIZES = {"wide": (1440, 900), "middle": (1024, 768), "narrow": (390, 844)}


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
    ids = [f"bottle-{row:03d}" for row in range(len(WINE))]
    write_report(folder / "search.html", searched(), WINE, row_ids=ids)
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
        page.set_default_timeout(120_000)
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


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", ["digits", "table", "search"])
def test_the_map_is_above_the_fold(name, size, visit):
    page = visit(name, size)
    height = SIZES[size][1]
    assert page.locator("#map-area").bounding_box()["y"] < 0.65 * height
    assert page.locator("details[open]").count() == 0


def test_a_finger_on_the_map_scrolls_the_page(visit):
    page = visit("digits", "narrow")
    assert (
        page.evaluate("getComputedStyle(document.getElementById('points')).touchAction") == "pan-y"
    )


def test_every_chart_names_its_axes(visit):
    page = visit("digits")
    for chart in page.locator("svg.chart, svg.graph").all():
        assert chart.locator("text.label").count() == 2
        assert all(words.strip() for words in chart.locator("text.label").all_text_contents())


def shown(page):
    """How many points are shown, as the page says."""
    return page.inner_text("#shown")


def test_a_row_of_the_clusters_shows_its_points(visit):
    page = visit("digits")
    before = colours(map_pixels(page))
    page.click("#clusters tbody tr >> nth=3 >> td >> nth=1")
    painted(page)
    assert 100 < colours(map_pixels(page)) < before / 3
    count = page.inner_text("#clusters tbody tr >> nth=3 >> td >> nth=0")
    assert shown(page) == f"Shown: cluster 3, {count} of 1797 points."
    assert page.get_attribute("#legend button >> nth=3", "aria-pressed") == "true"
    page.click("#show-all")
    painted(page)
    assert shown(page) == ""
    assert colours(map_pixels(page)) == before


def test_a_cell_of_the_classes_shows_a_class_in_a_cluster(visit):
    page = visit("digits")
    cell = page.locator(".confusion td .show >> nth=0")
    count = cell.inner_text()
    cell.click()
    assert shown(page).startswith("Shown: cluster ")
    assert f" and class 0, {count} of 1797 points." in shown(page)
    page.click("[data-colour=class]")  # another colouring keeps the filter
    assert f" and class 0, {count} of 1797 points." in shown(page)
    page.locator("#legend button >> nth=1").click()
    assert "class 0, 1," in shown(page)


def test_the_largest_disagreements_are_shown_too(visit):
    page = visit("digits")
    line = page.locator(".worst .show >> nth=0")
    count = line.locator("b").inner_text()
    line.click()
    assert f", {count} of 1797 points." in shown(page)


def test_a_search_finds_points_that_a_filter_hides(visit):
    page = visit("digits")
    page.click("#clusters tbody tr >> nth=0 >> .show")
    hidden = next(
        row for row in range(9) if f"cluster {page_cluster(page, row)}" not in shown(page)[:20]
    )
    page.click("#clusters tbody tr >> nth=0 >> .show")
    page.fill("#row", str(hidden))
    page.click("#find button")
    assert page.inner_text("#picked").startswith(f"Chosen: row {hidden}, cluster")
    assert "The filter was removed" in page.inner_text("#picked")
    assert shown(page) == ""


def page_cluster(page, row):
    """The cluster of a row, as the page says."""
    page.fill("#row", str(row))
    page.click("#find button")
    return page.inner_text("#picked").split("cluster ")[1].split(",")[0]


def test_a_part_of_a_name_finds_all_that_have_it(visit):
    page = visit("search")
    page.fill("#row", "E-01")
    for turn, row in enumerate((10, 11, 12), 1):
        page.click("#find button")
        words = page.inner_text("#picked")
        assert words.startswith(f"Chosen: bottle-{row:03d},")
        assert f"Match {turn} of 10" in words
    page.fill("#row", "bottle-099")
    page.click("#find button")
    assert page.inner_text("#picked").startswith("Chosen: bottle-099,")


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
