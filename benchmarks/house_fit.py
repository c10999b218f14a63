"""What is seen of a package by importing it and by following one fit.

``python -m benchmarks.house_fit SRC/srsg`` prints it as JSON. ``benchmarks.house`` runs it in one
process for each source folder, so that two versions of the package never meet.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from types import CodeType, FrameType
from typing import Any


class Walk:
    """Follows the Python calls of one thread through the files of a package.

    Attributes
    ----------
    files : list of str
        The files that ran, in the order of their first call.
    changes : int
        How often a call was in another file of the package than the one before it.
    """

    def __init__(self, package: Path) -> None:
        self.package = f"{package}{os.sep}"
        # Before Python 3.12 numba reports calls of compiled functions, too.
        self.compiled = {
            _place(each.py_func.__code__)
            for module in _modules()
            for each in vars(module).values()
            if hasattr(each, "py_func")
        }
        self.files: list[str] = []
        self.changes = 0
        self._last = ""

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        name = frame.f_code.co_filename
        if event != "call" or not name.startswith(self.package):
            return
        if _place(frame.f_code) in self.compiled:
            return
        if name not in self.files:
            self.files.append(name)
        if self._last and name != self._last:
            self.changes += 1
        self._last = name


def _place(code: CodeType) -> tuple[str, int]:
    return code.co_filename, code.co_firstlineno


def _modules() -> list[Any]:
    """The modules of the package that are loaded."""
    return [module for name, module in list(sys.modules.items()) if name.startswith("srsg.")]


def walk_of_a_fit(package: Path) -> dict[str, Any]:
    """Follow ``SRSG().fit`` of 200 points."""
    from sklearn.datasets import load_digits

    from srsg import SRSG

    X = load_digits().data[:200]
    # One thread, which does all the work and is followed; the first fit imports and compiles.
    SRSG(n_jobs=1).fit(X)
    built = count_engines()
    walk = Walk(package)
    sys.setprofile(walk)
    try:
        SRSG(n_jobs=1).fit(X)
    finally:
        sys.setprofile(None)
    return {
        "files of one fit": len(walk.files),
        "changes of file in one fit": walk.changes,
        "engines of one fit": len(built),
        "walk": [Path(name).relative_to(package).as_posix() for name in walk.files],
    }


def count_engines() -> list[object]:
    """A list that gets every thread engine made from now on, copies included."""
    # Its module has had several names.
    engine = next(module.ThreadEngine for module in _modules() if hasattr(module, "ThreadEngine"))
    built: list[object] = []
    make = engine.__init__

    def counted(self: object, *arguments: Any, **options: Any) -> None:
        built.append(self)
        make(self, *arguments, **options)

    engine.__init__ = counted
    return built


def interface() -> dict[str, int]:
    """Ancestors of ``SRSG``, and the number of parameters of every exported estimator."""
    import srsg

    ancestors = srsg.SRSG.__mro__
    exported = [getattr(srsg, name) for name in srsg.__all__]
    estimators = [each for each in exported if hasattr(each, "get_params")]
    return {
        "classes in SRSG's MRO, of this package": sum(
            each.__module__.startswith("srsg.") for each in ancestors
        ),
        "classes in SRSG's MRO, all": len(ancestors),
        **{f"parameters: {each.__name__}": len(each._get_param_names()) for each in estimators},
    }


def main() -> None:
    package = Path(sys.argv[1])
    import srsg

    assert Path(srsg.__file__).parent == package, "another srsg was imported"
    print(json.dumps(interface() | walk_of_a_fit(package)))


if __name__ == "__main__":
    main()
