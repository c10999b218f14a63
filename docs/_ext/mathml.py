"""Formulas as MathML, which browsers show by themselves: no script, nothing from the network."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx


def formula(tex: str, as_block: bool) -> str:
    # The right bar of a norm has indices, and browsers would stretch only the left one; bars of
    # absolute values would stand apart from what they enclose.
    return re.sub(
        r"<mo[^>]*>([‖∥|])</mo>",
        r'<mo stretchy="false" lspace="0" rspace="0">\1</mo>',
        tex2mathml(tex, as_block=as_block),
    )


def write_inline(translator: Any, node: nodes.Element) -> None:
    translator.body.append(formula(node.astext(), as_block=False))
    raise nodes.SkipNode


def write_block(translator: Any, node: nodes.Element) -> None:
    # A wide formula scrolls by itself; the page does not.
    translator.body.append(translator.starttag(node, "div", CLASS="math"))
    translator.body.append(formula(node.astext(), as_block=True))
    translator.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (write_inline, None), (write_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
