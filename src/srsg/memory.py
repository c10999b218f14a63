"""Amounts of memory: how much is free, and amounts as text."""

import os
import re
from numbers import Real
from pathlib import Path

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_UNITS |= {f"{unit}I": 2 ** (10 * power) for power, unit in enumerate("KMGT", start=1)}
_AMOUNT = re.compile(r"\s*(\d+(?:\.\d*)?)\s*([KMGT]?I?)B?\s*", re.IGNORECASE)

_ROOM_UNKNOWN = 4 * 10**9
"""What counts as free where the system does not say."""


def in_bytes(max_memory: int | str, name: str = "max_memory") -> int:
    """The number of bytes, given as a number or as text such as ``"2GB"`` or ``"512 MiB"``.

    ``name`` is what messages call the setting.

    Examples
    --------
    >>> from srsg.memory import in_bytes
    >>> in_bytes("1.5 GB"), in_bytes("1KiB"), in_bytes(10**6)
    (1500000000, 1024, 1000000)
    """
    if not isinstance(max_memory, str):
        number = isinstance(max_memory, Real) and not isinstance(max_memory, bool)
        if not number or not 1 <= max_memory < float("inf"):
            raise ValueError(f"{name}={max_memory!r} must be a positive number of bytes.")
        return int(max_memory)
    amount = _AMOUNT.fullmatch(max_memory)
    if amount is None or amount[2].upper() not in _UNITS:
        raise ValueError(
            f"{name}={max_memory!r} is not an amount of memory: give bytes, or a number with "
            "its unit such as '2GB', '500MB' or '512MiB'."
        )
    return int(float(amount[1]) * _UNITS[amount[2].upper()])


def in_words(n_bytes: float) -> str:
    """An amount of memory as text for a message.

    Examples
    --------
    >>> from srsg.memory import in_words
    >>> in_words(2.5e9), in_words(3e5)
    ('2.5 GB', '0.3 MB')
    """
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:.1f} MB"


def free_memory() -> float:
    """Bytes that can be used without displacing other programs, as far as the system tells."""
    return min(_free_in_system(), _free_in_container(), address_space_left())


def address_space_left() -> float:
    """Bytes that this process may still ask for (``ulimit -v``); no bound where there is none."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except (ImportError, OSError):  # not Linux
        return float("inf")
    if limit == resource.RLIM_INFINITY:
        return float("inf")
    return max(0, limit - pages * resource.getpagesize())


def _free_in_system() -> int:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        available = next(line for line in lines if line.startswith("MemAvailable"))
        return int(available.split()[1]) * 1024
    except (OSError, StopIteration):
        pass
    try:  # elsewhere, half of all memory
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, OSError, ValueError):
        return _ROOM_UNKNOWN


def _free_in_container() -> float:
    """What a control group leaves; no bound where there is none."""
    folder = Path("/sys/fs/cgroup")
    try:
        limit = int((folder / "memory.max").read_text())
        return max(0, limit - int((folder / "memory.current").read_text()))
    except (OSError, ValueError):
        return float("inf")
