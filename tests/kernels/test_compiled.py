"""Compiled code is kept, but never that of other sources."""

from __future__ import annotations

import gc
import os
import subprocess
import sys

import pytest

import srsg.kernels.compiled as compiled

USER = """
from pathlib import Path
import srsg.kernels.compiled as compiled
compiled.FOLDER = compiled.cache_folder(Path(__file__).parent)
from numba import config
from helpers import twice

@compiled.kernel()
def apply(x):
    return twice(x) + 1

found = apply(5.0)
print(found, sum(apply.stats.cache_hits.values()), config.CACHE_DIR)
"""
HELPER = """
from srsg.kernels.compiled import helper

@helper()
def twice(x):
    return {factor} * x
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A kernel in one file that calls a helper in another, and a way to edit and run them."""
    (tmp_path / "user.py").write_text(USER)
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("NUMBA_CACHE_DIR", None)

    def run(factor, **variables):
        (tmp_path / "helpers.py").write_text(HELPER.format(factor=factor))
        done = subprocess.run(
            [sys.executable, tmp_path / "user.py"],
            env=environment | variables,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        value, hits, *folder = done.stdout.split()
        assert folder == [variables[name] for name in variables if name == "NUMBA_CACHE_DIR"]
        return float(value), int(hits)

    return run


def test_an_edited_helper_is_compiled_again(package, tmp_path):
    assert package(2.0) == (11, 0)
    assert package(2.0) == (11, 1)
    assert package(3.0) == (16, 0)
    # As it was before, which is still there.
    assert package(2.0) == (11, 1)
    assert len(list((tmp_path / "__pycache__").glob("srsg-kernels-*"))) == 2


def test_the_users_folder_for_compiled_code_is_used(package, tmp_path):
    place = tmp_path / "elsewhere"
    assert package(2.0, NUMBA_CACHE_DIR=str(place)) == (11, 0)
    assert package(2.0, NUMBA_CACHE_DIR=str(place)) == (11, 1)
    assert not (tmp_path / "__pycache__").exists()


def test_a_read_only_package_has_its_compiled_code_among_the_users_caches(package, tmp_path):
    (tmp_path / "__pycache__").write_text("a file: no folder can be made here, not even by root")
    caches = {"XDG_CACHE_HOME": str(tmp_path / "caches"), "HOME": str(tmp_path)}
    assert package(2.0, **caches) == (11, 0)
    assert package(2.0, **caches) == (11, 1)
    if sys.platform == "linux":
        assert len(list((tmp_path / "caches" / "srsg").glob("srsg-kernels-*"))) == 1


def test_without_any_folder_each_process_compiles_for_itself(package, tmp_path):
    (tmp_path / "__pycache__").write_text("a file: no folder can be made here, not even by root")
    (tmp_path / "file").write_text("nor here")
    nowhere = str(tmp_path / "file" / "caches")
    caches = {"XDG_CACHE_HOME": nowhere, "HOME": nowhere, "LOCALAPPDATA": nowhere}
    assert package(2.0, **caches) == (11, 0)
    assert package(2.0, **caches) == (11, 0)


def test_the_digest_is_of_names_and_contents(tmp_path):
    assert compiled.sources_digest(tmp_path) is None
    (tmp_path / "a.py").write_text("x = 1\n")
    first = compiled.sources_digest(tmp_path)
    (tmp_path / "a.py").rename(tmp_path / "b.py")
    assert compiled.sources_digest(tmp_path) != first
    (tmp_path / "b.py").rename(tmp_path / "a.py")
    assert compiled.sources_digest(tmp_path) == first
    (tmp_path / "a.py").write_text("x = 2\n")
    assert compiled.sources_digest(tmp_path) != first


def test_only_the_last_versions_are_kept(tmp_path):
    folders = [tmp_path / f"srsg-kernels-{k}" for k in range(6)]
    for k, folder in enumerate(folders):
        folder.mkdir()
        os.utime(folder, (k, k))
    (tmp_path / "other").mkdir()
    compiled.remove_old(folders[1])  # in use, though its time is old
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"other", *(folders[k].name for k in (1, 3, 4, 5))}


def test_garbage_collection_is_paused_from_the_first_kernel_on():
    told = []

    @compiled.helper()
    def twice(x):
        return 2 * x

    @compiled.kernel(cache=False)
    def apply(x):
        return twice(x) + 1

    assert gc.isenabled()
    with compiled.when_compiling(lambda: told.append(gc.isenabled())):
        assert gc.isenabled()
        assert apply(5.0) == 11
        assert not gc.isenabled()
        assert apply(5) == 11
    assert gc.isenabled()
    assert told == [False]  # once, however many kernels are compiled


def test_garbage_collection_stays_off_for_those_who_switched_it_off():
    gc.disable()
    try:
        with compiled.when_compiling(lambda: None):
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
