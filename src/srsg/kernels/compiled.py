"""How the kernels are compiled, and where the compiled code is kept: one place for the options."""

import gc
import os
import shutil
import tempfile
from contextlib import contextmanager, suppress
from functools import partial
from hashlib import sha256
from pathlib import Path

import numpy as np
from numba import config, njit
from numba.core import event

# Lets the compiler vectorise a sum. The order of the additions is fixed at compile time, so a
# result depends on its operands alone. The flags that assume there is no NaN or infinity are left
# out: an overflow must not go unseen.
VECTORISED = {"reassoc", "contract", "nsz"}

ZERO = np.int64(0)
"""The start of a counter that is passed to other functions: numba treats a plain 0 as a literal and
would compile a function that gets one a second time."""

KEPT = 4
"""How many versions of the kernels keep their compiled code: going back to another branch costs no
time, and the folder does not grow forever."""


def sources_digest(folder):
    """A digest of all Python files in a folder, None if it has none (as within a zip archive)."""
    digest = sha256()
    paths = sorted(Path(folder).glob("*.py"))
    for path in paths:
        source = path.read_bytes()
        # Names and lengths too: code that moves to another file counts as a change.
        digest.update(f"{path.name} {len(source)}\n".encode() + source)
    return digest.hexdigest()[:16] if paths else None


def cache_folder(sources):
    """The folder for the compiled code of these sources; None leaves the choice to numba.

    numba notices if the file of a kernel has changed, but not if a helper that is compiled into it
    has changed in another file. So each version of all sources has a folder of its own. It is in
    the user's ``NUMBA_CACHE_DIR`` if that is set, otherwise beside the sources or, if these are
    read-only, among the user's caches.
    """
    digest = sources_digest(sources)
    if digest is None:
        return None
    caches = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    own = [sources / "__pycache__", Path(caches, "srsg")]
    for place in [Path(config.CACHE_DIR)] if config.CACHE_DIR else own:
        with suppress(OSError, RuntimeError):  # not writable, or no home folder
            folder = place.expanduser() / f"srsg-kernels-{digest}"
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()  # the only sure sign that it is writable
            folder.touch()  # used now, so the last to be removed
            return folder
    return None


def remove_old(folder):
    """Remove compiled code of other versions of the kernels, except for the last ones used."""
    with suppress(OSError):  # another process may be removing the same folders
        others = [path for path in folder.parent.glob("srsg-kernels-*") if path != folder]
        others.sort(key=lambda path: path.stat().st_mtime, reverse=True)
        for path in others[KEPT - 1 :]:
            shutil.rmtree(path, ignore_errors=True)


FOLDER = cache_folder(Path(__file__).parent)
"""Where this process finds and leaves compiled code; None if the choice is numba's."""

if FOLDER:
    remove_old(FOLDER)


# Without the GIL, our own threads run kernels side by side. With numpy's error model, a division by
# zero gives infinity or NaN, so loops need no check that raises an exception. Nobody calls our
# functions from C.
_OPTIONS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


def kernel(**options):
    """A function that Python calls."""

    def compiled(function):
        # numba reads this setting only here, where the function is made. Afterwards the user's own
        # setting is restored, since it is meant for the user's functions too.
        users = config.CACHE_DIR
        config.CACHE_DIR = str(FOLDER or users)
        made = {**_OPTIONS, **options}
        try:
            return njit(**{"cache": True, **made})(function)
        except RuntimeError:  # no folder can be written: each process compiles for itself
            return njit(**made)(function)
        finally:
            config.CACHE_DIR = users

    return compiled


class _Once(event.Listener):
    """Calls a function when the first kernel is compiled, and not again."""

    def __init__(self, tell):
        self._tell = tell

    def on_start(self, event):
        tell, self._tell = self._tell, None
        if tell is not None:
            # Compiling makes millions of objects, and nearly all of them stay in use. Python's
            # search for garbage among them would take a sixth of the time.
            gc.disable()
            tell()

    def on_end(self, event):
        pass


@contextmanager
def when_compiling(tell):
    """A context in which ``tell`` is called, once, when a kernel is compiled.

    From then on, garbage collection pauses until the context ends. Kernels that are loaded from the
    cache do not count: numba reports what it compiles itself.
    """
    was_on = gc.isenabled()
    try:
        with event.install_listener("numba:compile", _Once(tell)):
            yield
    finally:
        if was_on:
            gc.enable()


HELPER_OPTIONS = {**_OPTIONS, "no_cpython_wrapper": True}

helper = partial(njit, **HELPER_OPTIONS)
"""A function that only kernels call: part of their code, so it needs no entry of its own."""

inlined = partial(helper, inline="always")
"""A helper that a kernel calls in one place, where numba puts its code before it compiles the
kernel. Other helpers are compiled by themselves, and once more in every function that calls them.
In exchange, an inlined one has the ``fastmath`` of its caller, so sums have their own helpers."""
