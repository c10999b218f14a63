"""Where work runs and how much memory it may take: said once for all estimators."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from typing import Any


@dataclass(frozen=True)
class Config:
    """The settings; see :func:`config_context`."""

    engine: Any = "threads"
    max_memory: int | str | None = None


_process = [Config()]
"""The settings of the process, which threads without settings of their own share."""

_context: ContextVar[Config | None] = ContextVar("srsg_config", default=None)


def current() -> Config:
    """The settings that hold here."""
    return _context.get() or _process[0]


def get_config() -> dict[str, Any]:
    """The settings that hold here, by name.

    Returns
    -------
    dict

    Examples
    --------
    >>> import srsg
    >>> srsg.get_config()
    {'engine': 'threads', 'max_memory': None}
    """
    return {field.name: getattr(current(), field.name) for field in fields(Config)}


def set_config(**settings: Any) -> None:
    """Change settings for the whole process.

    Parameters
    ----------
    **settings
        Those of :func:`config_context`.

    Examples
    --------
    >>> import srsg
    >>> srsg.set_config(max_memory="4GB")
    >>> srsg.set_config(max_memory=None)
    """
    _process[0] = _changed(_process[0], settings)


@contextmanager
def config_context(**settings: Any) -> Iterator[None]:
    """Change settings for the fits and predictions in a ``with`` block.

    Parameters
    ----------
    engine : {"threads", "dask"}, address or distributed.Client
        Where points are coded: on threads of this process, or on the workers of the current Dask
        client ("dask"), of the scheduler at an address such as ``tcp://127.0.0.1:8786``, or of
        the given client. The result does not depend on it. On a cluster X may be a ``dask.array``.
    max_memory : int, str or None
        The most memory that coding may take besides its input, in bytes or as text such as "2GB";
        None allows half of what is free.

    Examples
    --------
    >>> import srsg
    >>> with srsg.config_context(max_memory="2GB"):
    ...     srsg.get_config()["max_memory"]
    '2GB'
    """
    token = _context.set(_changed(current(), settings))
    try:
        yield
    finally:
        _context.reset(token)


def _changed(config: Config, settings: dict[str, Any]) -> Config:
    names = [field.name for field in fields(Config)]
    for name in settings:
        if name not in names:
            raise TypeError(f"{name!r} is not a setting: these are {', '.join(names)}.")
    changed = replace(config, **settings)
    if changed.max_memory is not None:
        from srsg.running.memory import in_bytes  # only now: it imports NumPy

        in_bytes(changed.max_memory)
    if not isinstance(changed.engine, str) and not hasattr(changed.engine, "scatter"):
        raise TypeError(
            f"engine={changed.engine!r} must be 'threads', 'dask', the address of a Dask scheduler "
            "or a distributed.Client."
        )
    return changed
