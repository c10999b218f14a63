"""Files are parsed in a process of their own, with limits on memory and time.

A small file can unpack to any size, and parsers of damaged files crash. Both end that process only.
It is a fence and no prison: it runs with the rights of the user.
"""

import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from srsg.files.errors import FileError
from srsg.memory import free_memory, in_bytes, in_words

PROGRAM = """
import pickle, sys
sys.path[:] = pickle.load(sys.stdin.buffer)
class WithoutPandas:
    def find_spec(name, path=None, target=None):
        if name == "pandas":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, WithoutPandas)
from srsg.files.guard import answer
answer()
"""
# pyarrow would load pandas if there is one, which takes as long as all the rest.

# Threads reserve address space, which the limit on memory counts.
SETTINGS = {
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "MALLOC_ARENA_MAX": "2",
    "OMP_NUM_THREADS": "4",
    "OPENBLAS_NUM_THREADS": "1",
}


class Limits(NamedTuple):
    """What reading a file may take."""

    memory: int
    seconds: float


def limits_for(n_bytes: int) -> Limits:
    """The limits for files of this size: those of the environment, or the usual ones.

    Examples
    --------
    >>> import os
    >>> from srsg.files.guard import limits_for
    >>> os.environ["SRSG_READ_MEMORY"] = "3GB"
    >>> limits_for(10**6)
    Limits(memory=3000000000, seconds=600.0)
    >>> del os.environ["SRSG_READ_MEMORY"]
    """
    memory = min(max(2 * 10**9, 20 * n_bytes), free_memory())
    if given := os.environ.get("SRSG_READ_MEMORY"):
        memory = in_bytes(given, "SRSG_READ_MEMORY")
    return Limits(int(memory), float(os.environ.get("SRSG_READ_SECONDS") or 600))


def in_other_process(name: str, n_bytes: int, function: Callable[..., Any], *given: Any) -> Any:
    """The result of a function of this package, called in another process.

    Parameters
    ----------
    name : str
        The file, in messages.
    n_bytes : int
        Its size.
    function : function
        What parses it.
    *given
        The function's arguments.

    Raises
    ------
    FileError
        If that takes more memory or time than it may, or crashes.
    """
    limits = limits_for(n_bytes)
    # -I keeps a json.py beside the data from being imported.
    command = [sys.executable, "-I", "-c", PROGRAM]
    task = pickle.dumps(sys.path) + pickle.dumps((limits, function, given))
    # Without a name, so that nobody else can read it and nothing is left of it.
    with tempfile.TemporaryFile() as result:
        try:
            subprocess.run(
                command,
                input=task,
                stdout=result,
                stderr=subprocess.DEVNULL,
                env=os.environ | SETTINGS,
                timeout=limits.seconds,
                check=True,
            )
        except subprocess.TimeoutExpired as error:
            raise FileError(
                f"{name}: takes more than {limits.seconds:g} seconds to read. If you trust it, "
                "allow more with the environment variable SRSG_READ_SECONDS."
            ) from error
        except subprocess.CalledProcessError as error:
            raise FileError(
                f"{name}: is damaged, or takes more than {in_words(limits.memory)} of memory to "
                "read. If you trust it, allow more with the environment variable SRSG_READ_MEMORY."
            ) from error
        result.seek(0)
        answered = pickle.load(result)
    if isinstance(answered, Exception):
        raise answered
    return answered


def answer() -> None:
    """Do the task that standard input describes; runs in the other process."""
    limits, function, given = pickle.load(sys.stdin.buffer)
    result = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # for libraries that print
    _limit(limits)
    answered: Any
    try:
        answered = function(*given)
    except MemoryError:
        raise  # there may not be enough to say so
    except Exception as error:
        answered = error
    with result:
        pickle.dump(answered, result, protocol=5)
    # Threads of a parser can crash while Python shuts down: the result is there, so do without.
    os._exit(0)


def _limit(limits: Limits) -> None:
    """Limit this process, where the system can: Windows cannot, and macOS does not keep to it."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (held + limits.memory,) * 2)
        # It ends even if nobody is left to end it.
        resource.setrlimit(resource.RLIMIT_CPU, (8 * int(limits.seconds) + 1,) * 2)
