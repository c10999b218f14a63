"""Names such as ``labels_`` in docstrings are names, not reStructuredText's links."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

NAME = re.compile(r"(?<![\w`*\\])([A-Za-z]\w*)_(?![\w`*])")
LITERAL = re.compile(r"(``.+?``|`.+?`)")


def escape(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    for place, line in enumerate(lines):
        # Between backticks nothing is a link; in examples nothing is text.
        if not line.lstrip().startswith(">>>"):
            parts = LITERAL.split(line)
            parts[::2] = [NAME.sub(r"\1\\_", part) for part in parts[::2]]
            lines[place] = "".join(parts)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", escape, priority=900)  # after numpydoc
    return {"parallel_read_safe": True, "parallel_write_safe": True}
