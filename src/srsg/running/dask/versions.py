"""Whether the workers run the same code as this process."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from functools import lru_cache
from typing import Any
from weakref import WeakKeyDictionary

from srsg.running.dask.clients import ClusterError, answer_within

PATIENCE = 120.0
"""Seconds for workers to import the package and answer."""

_checked: WeakKeyDictionary[Any, set[str]] = WeakKeyDictionary()
"""The workers of every client that have the same code."""


def check_versions(client: Any, workers: Iterable[str]) -> None:
    """Refuse workers without the package, or with another version of it.

    Without this check such a worker ends as soon as it gets work, and the cluster just seems to
    have none. Or it works, with other results than this process. Every worker is asked once.

    Raises
    ------
    ClusterError
        If a worker has other code; the message names it.
    """
    same = _checked.setdefault(client, set())
    new = sorted(set(workers) - same)
    if not new:
        return
    answers = answer_within(
        client, PATIENCE, lambda: client.run(_in_thread(), workers=new, on_error="return")
    )
    for worker, facts in answers.items():
        if problem := _problem(facts):
            raise ClusterError(
                f"The Dask worker at {worker} {problem}. Install the same version of srsg on all "
                "workers and here, and start the workers again."
            )
        # A worker lost before it could answer is asked again if it comes back.
        if not isinstance(facts, Exception):
            same.add(worker)


def _problem(facts: Any) -> str:
    if isinstance(facts, ImportError):
        return f"cannot import srsg ({facts})"
    if isinstance(facts, Exception):
        return ""
    version, digest = facts
    own_version, own_digest = _own_facts()
    if version != own_version:
        return f"has version {version} of srsg, and this process has version {own_version}"
    if digest != own_digest:
        return f"has other source code of srsg {version} than this process"
    return ""


@lru_cache
def _own_facts() -> tuple[str, str]:
    return code_facts()()


def _in_thread() -> Callable[[], Awaitable[tuple[str, str]]]:
    """:func:`code_facts` for workers: the import of the package must not block their event loop.

    A worker that has just started has to tell its nanny. Dask does not restart a worker that is
    lost before that.
    """
    facts = code_facts()

    async def answer() -> tuple[str, str]:
        import asyncio

        return await asyncio.to_thread(facts)

    return answer


def code_facts() -> Callable[[], tuple[str, str]]:
    """A function that returns the version of the package and a digest of its source code.

    A function made inside another one is sent with its code. A function of a module is sent by
    name, and a worker without the module could not even say what is wrong.

    Examples
    --------
    >>> from srsg.running.dask.versions import code_facts
    >>> version, digest = code_facts()()
    >>> len(digest)
    32
    """

    def facts() -> tuple[str, str]:
        import hashlib
        from pathlib import Path

        import srsg

        folder = Path(srsg.__file__).parent
        digest = hashlib.blake2b(digest_size=16)
        for path in sorted(folder.rglob("*.py")):
            # Names too: a module that moves to another place cannot be found by its old name.
            digest.update(path.relative_to(folder).as_posix().encode())
            digest.update(path.read_bytes())
        return srsg.__version__, digest.hexdigest()

    return facts
