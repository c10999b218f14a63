"""Warnings that point at the user's line, not at one of this package."""

from __future__ import annotations

import sys
import warnings
from types import FrameType

# Wrappers of these libraries may stand between the user's line and ours.
_INSIDE = ("srsg", "sklearn", "joblib", "contextlib")


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the line outside this package that led here.

    Examples
    --------
    >>> import warnings
    >>> from srsg.engines.warnings import warn_user
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_user("Look at this.", UserWarning)
    >>> str(caught[0].message)
    'Look at this.'
    """
    frame: FrameType | None = sys._getframe(1)
    level = 2
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] in _INSIDE:
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level if frame is not None else 2)
