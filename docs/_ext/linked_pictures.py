"""A click on a picture shows it by itself, so that it can be enlarged on a phone."""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.osutil import relative_uri


def link(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    # The gallery's pictures lead to its pages.
    if app.builder.format != "html" or docname.startswith("gallery/"):
        return
    folder = relative_uri(app.builder.get_target_uri(docname), app.builder.imagedir)
    for picture in list(doctree.findall(nodes.image)):
        known = app.env.images.get(picture["uri"])
        if known is None or isinstance(picture.parent, nodes.reference):
            continue
        own = nodes.reference("", "", internal=True, refuri=f"{folder}/{known[1]}")
        picture.replace_self(own)
        own.append(picture)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("doctree-resolved", link)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
