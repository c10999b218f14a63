"""A click on a picture shows it by itself, so that it can be enlarged on a phone."""

from __future__ import annotations

import posixpath

from docutils import nodes
from sphinx.application import Sphinx


def link(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    # The gallery's pictures lead to its pages.
    if app.builder.format != "html" or docname.startswith("gallery/"):
        return
    for picture in list(doctree.findall(nodes.image)):
        name = app.builder.images.get(picture["uri"])
        if name is None or isinstance(picture.parent, nodes.reference):
            continue
        own = nodes.reference("", "", internal=True)
        own["refuri"] = posixpath.join(app.builder.imgpath, name)
        picture.replace_self(own)
        own.append(picture)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("doctree-resolved", link)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
