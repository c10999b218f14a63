"""Reading the pages that reports are."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

VOID = {"wbr", "meta", "input", "br", "link", "img"}
SHAPES = {"path", "rect", "circle", "polyline", "image"}


class Page(HTMLParser):
    """Elements, attributes and text of a page; fails where tags do not match."""

    def __init__(self, path):
        super().__init__()
        self.source = path.read_text("utf-8")
        self.elements, self.open, self.text = [], [], ""
        self.feed(self.source)
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        assert tag in VOID | SHAPES
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not {"script", "style"} & set(self.open):
            self.text += data

    @property
    def sections(self):
        return [found["id"] for tag, found in self.elements if tag == "section"]

    @property
    def words(self):
        return re.sub(r"\s+", " ", self.text)

    @property
    def data(self):
        found = re.search(r'<script type="application/json" id="data">(.*?)</script>', self.source)
        return json.loads(found[1])
