"""Modules of version 0.1.0 that are elsewhere now: their names warn and work until 0.4."""

import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any


def forward(old: str, *homes: str) -> Callable[[str], Any]:
    """A module's ``__getattr__`` that finds names in other modules."""

    def find(name: str) -> Any:
        for home in homes:
            module = import_module(home)
            if not name.startswith("_") and hasattr(module, name):
                message = f"{old}.{name} is {home}.{name} since 0.2."
                warnings.warn(message, FutureWarning, stacklevel=2)
                return getattr(module, name)
        raise AttributeError(f"module {old!r} has no attribute {name!r}")

    return find
