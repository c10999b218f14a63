"""A file cannot have other files read or programs started."""

from __future__ import annotations

import os
import pickle
import socket
import time

import h5py
import numpy as np
import pytest
from PIL import EpsImagePlugin, Image
from pyarrow import feather, parquet

from srsg.files import FileError, images, read_points, write_labels
from srsg.files.contents import Request
from support.file_samples import Exploit, X


def external_storage(file, secret):
    file.create_dataset("X", (8, 8), "f8", external=[(str(secret), 0, 512)])


def virtual_data_set(file, secret):
    layout = h5py.VirtualLayout((4, 3), "f8")
    layout[:] = h5py.VirtualSource(str(secret), "X", (4, 3))
    file.create_virtual_dataset("X", layout)


def external_link(file, secret):
    file["train/y"] = np.arange(4)
    file["train/X"] = h5py.ExternalLink(str(secret), "X")


def link_to_a_link(file, secret):
    file["far"] = h5py.ExternalLink(str(secret), "/")
    file["X"] = h5py.SoftLink("/far/X")


def sparse_parts_elsewhere(file, secret):
    group = file.create_group("X")
    group.attrs["MATLAB_sparse"] = 4
    group["jc"], group["ir"] = [0, 1, 1, 1], [0]
    group["data"] = h5py.ExternalLink(str(secret), "X")


@pytest.mark.parametrize("ending", [".h5", ".mat"])
@pytest.mark.parametrize(
    "write",
    [external_storage, virtual_data_set, external_link, link_to_a_link, sparse_parts_elsewhere],
)
def test_values_in_other_files_are_refused(tmp_path, write, ending):
    secret = tmp_path / "secret.h5"
    with h5py.File(secret, "w") as file:
        file["X"] = X
    path = tmp_path / f"f{ending}"
    with h5py.File(path, "w") as file:
        file["other"] = X
        write(file, secret)
    with pytest.raises(FileError, match=r": \S+ is in another file, which is not opened"):
        read_points(path)


def test_links_within_a_file_are_fine(tmp_path):
    with h5py.File(tmp_path / "f.h5", "w") as file:
        file["X"] = X
        file["again"] = h5py.SoftLink("/X")
    np.testing.assert_array_equal(read_points(tmp_path / "f.h5").X, X)


def test_postscript_that_is_called_a_picture_starts_no_program(tmp_path, monkeypatch):
    Image.new("RGB", (4, 4)).save(tmp_path / "a.png", "EPS")
    started = []
    monkeypatch.setattr(EpsImagePlugin, "Ghostscript", lambda *args, **kw: started.append(args))
    with pytest.raises(FileError, match=r"a\.png: cannot be read as an image"):
        images.read_images(tmp_path, Request())
    assert not started


def test_links_in_folders_of_images_are_not_followed(tmp_path):
    outside, folder = tmp_path / "outside", tmp_path / "folder"
    for place in (outside, folder):
        place.mkdir()
        Image.new("L", (4, 4)).save(place / "a.png")
    (folder / "link.png").symlink_to(outside / "a.png")
    (folder / "more").symlink_to(outside)
    assert read_points(folder).row_ids.tolist() == ["a.png"]
    (folder / "a.png").unlink()
    with pytest.raises(FileError, match=r"has no images .* links are not followed"):
        read_points(folder)


def fifo(path):
    os.mkfifo(path)


def unix_socket(path):
    with socket.socket(socket.AF_UNIX) as listener:
        os.chdir(path.parent)  # the paths of sockets must be short
        listener.bind(path.name)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no pipes with names")
@pytest.mark.parametrize("make", [fifo, unix_socket])
@pytest.mark.parametrize("ending", [".csv", ".npy", ".mat"])
def test_pipes_and_sockets_are_refused_at_once(tmp_path, monkeypatch, make, ending):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / f"f{ending}"
    make(path)
    start = time.perf_counter()
    with pytest.raises(FileError, match=f"f{ending}: is not a file; - reads CSV"):
        read_points(path)
    np.save(tmp_path / "x.npy", X)
    if ending != ".mat":
        with pytest.raises(FileError, match=f"f{ending}: is not a file"):
            read_points(tmp_path / "x.npy", labels=path)
    assert time.perf_counter() - start < 5


def test_a_folder_that_is_called_like_a_table(tmp_path):
    (tmp_path / "x.csv").mkdir()
    with pytest.raises(FileError, match=r"x\.csv: is a folder, not a file ending in \.csv"):
        read_points(tmp_path / "x.csv")
    for read, ending in ((parquet.read_table, ".parquet"), (feather.read_table, ".feather")):
        path = tmp_path / "x.csv" / f"labels{ending}"
        write_labels(path, [0, 1])
        assert read(path).to_pydict() == {"id": [0, 1], "label": [0, 1]}
    with pytest.raises(FileError, match="is a folder; name a file"):
        write_labels(tmp_path / "x.csv", [0, 1])


@pytest.mark.parametrize("ending", [".npy", ".npz", ".mat", ".csv", ".pkl"])
def test_pickles_are_never_run(tmp_path, ending):
    """Neither in an array of objects nor as a whole file of any name."""
    path, mark = tmp_path / f"f{ending}", tmp_path / "was run"
    objects = np.array([Exploit(mark)], dtype=object)
    writers = {".npy": np.save, ".npz": lambda path, array: np.savez(path, X=array)}
    for write in (writers.get(ending), lambda path, array: path.write_bytes(pickle.dumps(array))):
        if write is not None:
            write(path, objects)
            with pytest.raises(FileError):
                read_points(path)
    assert not mark.exists()
    pickle.loads(pickle.dumps(objects))
    assert mark.exists()  # it would have been seen
