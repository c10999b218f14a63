"""Disks that are full or cannot be written."""

from __future__ import annotations

import os
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

from faults.processes import FIT, _command, _judged
from faults.runs import Row, fit_bits, in_child


@contextmanager
def small_disk(kilobytes, folder):
    """A file system in memory of this size; only root may mount one."""
    place = Path(folder) / "disk"
    place.mkdir(exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(place)]
    subprocess.run(command, check=True, capture_output=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True, capture_output=True)


def remounted(place, options):
    subprocess.run(["mount", "-o", f"remount,{options}", str(place)], check=True)


def can_mount():
    if os.geteuid():
        return False
    with tempfile.TemporaryDirectory() as folder:
        try:
            with small_disk(100, folder):
                return True
        except (OSError, subprocess.CalledProcessError):
            return False


def full(expected, n_moments):
    """A disk that is full after so much of the checkpoint; with room again, the fit goes on."""
    row = Row(f"disk full at {n_moments} moments (tmpfs of 8 kB to the size needed)")
    with tempfile.TemporaryDirectory() as folder:
        fit_bits_in(f"{folder}/measured")
        needed = sum(-(-path.stat().st_size // 4096) * 4 for path in Path(folder).rglob("*.npz"))
        for moment in range(n_moments):
            size = 8 + needed * moment // n_moments
            with small_disk(size, folder) as disk:
                first, said = fit_bits_in(disk / "kept")
                if first == "done":
                    row.note("enough room", said, expected)
                    continue
                halves = [path for path in disk.rglob("*") if path.suffix not in ("", ".npz")]
                remounted(disk, "size=50m")
                outcome, bits = fit_bits_in(disk / "kept")
                clear = first in ("OSError", "FileError") and "space" in said
                ended = (
                    "one error, resumed" if clear and not halves else f"{first}: {said} {halves}"
                )
                row.note(ended if outcome == "done" else f"{outcome}: {bits}", bits, expected)
    yield row


def fit_bits_in(folder):
    return in_child(lambda: fit_bits(store=str(folder)))


def read_only(expected, package):
    """Folders that cannot be written, as mounts, since root may write anywhere else."""
    with tempfile.TemporaryDirectory() as folder, small_disk(100, folder) as disk:
        remounted(disk, "ro")
        row = Row("`store=` on a read-only disk")
        outcome, said = fit_bits_in(disk / "kept")
        row.note(f"{outcome}" if str(disk) in said else f"{outcome}: {said}")
        yield row
        row = Row("package, caches and `HOME` read-only")
        bound = Path(folder) / "package"
        bound.mkdir()
        subprocess.run(["mount", "--bind", str(package), str(bound)], check=True)
        try:
            remounted(bound, "ro,bind")
            path = os.pathsep.join([str(bound), os.environ.get("PYTHONPATH", "")])
            nowhere = {"HOME": str(disk), "XDG_CACHE_HOME": str(disk / "cache")}
            nowhere |= {"NUMBA_CACHE_DIR": "", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": path}
            row.note(*_judged(_command(FIT, **nowhere), expected))
        finally:
            subprocess.run(["umount", str(bound)], check=True)
        yield row
