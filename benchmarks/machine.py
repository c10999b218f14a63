"""The machine and the libraries that the figures were measured with."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np  # whose BLAS is described
from threadpoolctl import threadpool_info

LIBRARIES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "numba",
    "spams-bin",
    "celer",
    "skglm",
)


def describe() -> dict[str, Any]:
    """Processor, cores, memory, versions; nothing that names the machine or its folders."""
    _ = np.ones((2, 2)) @ np.ones((2, 2))
    blas = {
        f"{pool['internal_api']} {pool['version']} ({pool.get('architecture', 'unknown')})"
        for pool in threadpool_info()
        if pool["user_api"] == "blas"
    }
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gb": round(_memory() / 2**30, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "blas": sorted(blas),
        "libraries": {name: _version(name) for name in LIBRARIES if _version(name)},
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    models = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.machine())


def _memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
