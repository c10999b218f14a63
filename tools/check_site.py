"""Checks a built site without the network: ``python -m tools.check_site docs/_build/html``.

Every link to another page, to a place on a page, to a picture or a script must lead to something,
and no page may load anything from elsewhere. With ``--browser FOLDER``, every page is also opened
in Chromium at two widths, light and dark: what it says on its console, what it fails to load, and
what sticks out sideways are errors, and a screenshot of each is left in the folder.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import unquote, urlsplit

LOADING = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "src"}
"""Attributes that make a browser load something."""

NOT_LOADED = {"canonical", "author", "next", "prev", "search", "index", "license"}
"""Kinds of ``<link>`` that only name a page."""

WIDTHS = (390, 1440)


class Page(HTMLParser):
    """The places on a page, and what it links to and loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.places: set[str] = {"", "top"}
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.places |= {found[key] for key in ("id", "name") if key in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        loading = LOADING.get(tag)
        if loading in found and not NOT_LOADED & set(found.get("rel", "").split()):
            self.loads.append(found[loading])


def pages_of(site: Path) -> dict[Path, Page]:
    return {
        path: Page(path.read_text("utf-8"))
        for path in sorted(site.rglob("*.html"))
        if "_static" not in path.parts  # pieces of pages, which the theme brings
    }


def problems(site: Path) -> Iterator[str]:
    """One line for everything that leads nowhere or loads from elsewhere."""
    site = site.resolve()
    pages = pages_of(site)
    if not pages:
        yield f"{site}: no pages"
    for path, page in pages.items():
        name = path.relative_to(site)
        for load in page.loads:
            if urlsplit(load).scheme not in ("", "data") or load.startswith("//"):
                yield f"{name}: loads {load} from elsewhere"
        for link in {*page.links, *page.loads}:
            problem = _problem(link, path, pages)
            if problem:
                yield f"{name}: {problem}"


def _problem(link: str, path: Path, pages: dict[Path, Page]) -> str | None:
    parts = urlsplit(link)
    if parts.scheme in ("http", "https"):
        return None if "." in parts.netloc else f"{link}: no such host"
    if parts.scheme or link.startswith("//"):
        return None
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target.is_dir():
        target = target / "index.html"
    if not target.is_file():
        return f"{link}: there is no such file"
    page = pages.get(target)
    # What scripts of the theme find by themselves is no place on a page.
    if page and unquote(parts.fragment) not in page.places:
        return f"{link}: there is no such place on that page"
    return None


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None: ...


def seen_in_a_browser(site: Path, pictures: Path, wanted: str | None = None) -> Iterator[str]:
    """Opens every page at two widths, light and dark."""
    from playwright.sync_api import sync_playwright

    pictures.mkdir(parents=True, exist_ok=True)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site)))
    Thread(target=server.serve_forever, daemon=True).start()
    home = f"http://127.0.0.1:{server.server_port}"
    names = [str(path.relative_to(site)) for path in pages_of(site)]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_chromium(), args=["--no-sandbox"])
        for width in WIDTHS:
            for scheme in ("light", "dark"):
                context = browser.new_context(
                    viewport={"width": width, "height": 900},
                    color_scheme="dark" if scheme == "dark" else "light",
                )
                for name in names:
                    if wanted and wanted not in name:
                        continue
                    yield from _look(context, home, name, pictures / f"{width}-{scheme}")
                context.close()
        browser.close()
    server.shutdown()


def _look(context: object, home: str, name: str, folder: Path) -> Iterator[str]:
    said: list[str] = []
    tab = context.new_page()  # type: ignore[attr-defined]
    tab.on("console", lambda message: message.type == "error" and said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.on("requestfailed", lambda request: said.append(f"not loaded: {request.url}"))
    tab.on("request", lambda asked: asked.url.startswith((home, "data:")) or said.append(asked.url))
    tab.goto(f"{home}/{name}", wait_until="load")
    wide = tab.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    if wide > 1:
        said.append(f"sticks out by {wide} pixels")
    picture = folder / name.replace("/", "--").replace(".html", ".png")
    tab.screenshot(path=picture, full_page=True)
    tab.close()
    yield from (f"{folder.name} {name}: {line}" for line in said)


def _chromium() -> str | None:
    import shutil

    return shutil.which("chromium") or shutil.which("chromium-browser")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("site", type=Path)
    parser.add_argument("--browser", type=Path, metavar="FOLDER")
    parser.add_argument("--only", help="look at pages with this in their name")
    options = parser.parse_args()
    found = [*problems(options.site)]
    if options.browser:
        found += seen_in_a_browser(options.site, options.browser, options.only)
    for line in found:
        print(line, file=sys.stderr)
    if not found:
        print(f"{len(pages_of(options.site))} pages, nothing wrong")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
