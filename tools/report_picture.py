"""Photographs the top of a report: ``python -m tools.report_picture docs/report.png``.

The report is that of SRSG on scikit-learn's handwritten digits. Chromium must be installed.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

WIDTH, HEIGHT = 1200, 985
# Software rendering, so that the map is drawn without a graphics card.
ARGUMENTS = ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]


def main(picture: str) -> None:
    from playwright.sync_api import sync_playwright
    from sklearn.datasets import load_digits

    from srsg import SRSG
    from srsg.report import write_report
    from tools.check_site import _chromium

    X, y = load_digits(return_X_y=True)
    model = SRSG(n_clusters=10, random_state=0).fit(X)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page = Path(folder) / "report.html"
        write_report(page, model, X, y=y, image_shape=(8, 8), title="Handwritten digits")
        browser = playwright.chromium.launch(
            executable_path=_chromium(), args=[*ARGUMENTS, "--no-sandbox"]
        )
        tab = browser.new_page(
            viewport={"width": WIDTH, "height": HEIGHT},
            color_scheme="light",
            reduced_motion="reduce",
        )
        tab.goto(page.as_uri())
        tab.wait_for_timeout(1000)  # until the map is drawn
        tab.screenshot(path=picture)
        browser.close()
    print(f"the picture: {picture}")


if __name__ == "__main__":
    main(*sys.argv[1:])
