"""Downloads of data sets, from a server of our own."""

from __future__ import annotations

import hashlib
import io
import os
import socket
import threading
import zipfile
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from urllib.error import URLError

import numpy as np
import pytest
from PIL import Image

from paper.datasets import (
    catalogue,
    fetch_dataset,
    find_entry,
    list_datasets,
    load_dataset,
)
from srsg.files import FileError


class Server(SimpleHTTPRequestHandler):
    """Says nothing, and sends only the first half of files called half.*"""

    def log_message(self, *arguments):
        pass

    def copyfile(self, source, outputfile):
        content = source.read()
        half = "half" in self.path
        outputfile.write(content[: len(content) // 2] if half else content)


@pytest.fixture
def server(tmp_path, monkeypatch):
    """The address of a server of the files in tmp_path / "web"."""
    monkeypatch.setenv("no_proxy", "*")
    (tmp_path / "web").mkdir()
    http = ThreadingHTTPServer(("127.0.0.1", 0), partial(Server, directory=tmp_path / "web"))
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{http.server_port}"
    http.shutdown()
    thread.join()
    http.server_close()


def zip_of_images(path, n_objects=20, value=0):
    """As many images as COIL-20 has, each of one gray level."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("coil/readme.txt", "not an image")
        for number in range(1, n_objects + 1):
            content = io.BytesIO()
            Image.new("L", (8, 8), number + value).save(content, "png")
            for view in range(72):
                archive.writestr(f"coil/obj{number}__{view}.png", content.getvalue())


def test_an_archive_is_fetched_once_and_loaded(tmp_path, server, capsys):
    zip_of_images(tmp_path / "web" / "coil-20-proc.zip")
    folder = tmp_path / "new" / "data"
    path = fetch_dataset("coil20", folder, base_url=server, verbose=True)
    assert "downloading coil-20-proc.zip" in capsys.readouterr().err
    assert path == folder / "COIL20.npz"
    data = load_dataset("COIL-20", folder=folder)
    assert (data.X.shape, data.image_shape) == ((1440, 1024), (32, 32))
    np.testing.assert_array_equal(data.y, np.repeat(np.arange(1, 21), 72))
    np.testing.assert_array_equal(data.X[:, 0], data.y)
    content = (tmp_path / "web" / "coil-20-proc.zip").read_bytes()
    kept = (folder / "COIL20.sha256").read_text()
    assert kept == f"{hashlib.sha256(content).hexdigest()}  {server}/coil-20-proc.zip\n"
    assert sorted(os.listdir(folder)) == ["COIL20.npz", "COIL20.sha256"]
    (tmp_path / "web" / "coil-20-proc.zip").unlink()
    assert fetch_dataset("coil20", folder, base_url=server) == path


def test_a_changed_archive_is_refused(tmp_path, server):
    folder, archive = tmp_path / "data", tmp_path / "web" / "coil-20-proc.zip"
    zip_of_images(archive)
    fetch_dataset("coil20", folder, base_url=server).unlink()
    zip_of_images(archive, value=1)
    with pytest.raises(FileError, match=r"has changed .* refused; if you trust it, remove .*256"):
        fetch_dataset("coil20", folder, base_url=server)
    assert os.listdir(folder) == ["COIL20.sha256"]
    (folder / "COIL20.sha256").unlink()
    assert fetch_dataset("coil20", folder, base_url=server).exists()


def with_home(monkeypatch, name, **changes):
    """The catalogue with another home for one of its sets."""
    entry = find_entry(name)
    other = replace(entry, home=replace(entry.home, **changes))
    entries = tuple(other if known is entry else known for known in list_datasets())
    monkeypatch.setattr(catalogue, "_CATALOGUE", entries)


def test_a_checksum_that_is_known_decides(tmp_path, server, monkeypatch):
    archive = tmp_path / "web" / "coil-20-proc.zip"
    zip_of_images(archive)
    with_home(monkeypatch, "COIL-20", sha256="0" * 64)
    with pytest.raises(FileError, match=rf"is \w+, not {'0' * 64}\) and is refused\.$"):
        fetch_dataset("coil20", tmp_path / "data", base_url=server)
    assert os.listdir(tmp_path / "data") == []
    with_home(monkeypatch, "COIL-20", sha256=hashlib.sha256(archive.read_bytes()).hexdigest())
    assert fetch_dataset("coil20", tmp_path / "data", base_url=server).exists()


@pytest.mark.parametrize(
    ("prepare", "message"),
    [
        (lambda web: None, "answers 404 File not found"),
        (lambda web: zip_of_images(web / "half.zip"), r"stopped after \d+ of \d+ bytes; try again"),
        (lambda web: (web / "coil-20-proc.zip").write_bytes(b"rubbish"), "cannot be read as a zip"),
        (
            lambda web: zip_of_images(web / "coil-20-proc.zip", n_objects=0),
            "has none of the images of COIL-20",
        ),
        (
            lambda web: zip_of_images(web / "coil-20-proc.zip", n_objects=2),
            "has 144 x 1024 values in 2 classes, not 1440 x 1024 in 20: this is not COIL-20",
        ),
    ],
    ids=["not there", "cut off", "rubbish", "other files", "too few"],
)
def test_failed_downloads_leave_nothing(tmp_path, server, monkeypatch, prepare, message):
    prepare(tmp_path / "web")
    if (tmp_path / "web" / "half.zip").exists():
        with_home(monkeypatch, "COIL-20", url="http://elsewhere/half.zip")
    with pytest.raises(FileError, match=message) as caught:
        fetch_dataset("COIL-20", tmp_path / "data", base_url=server)
    assert "\n" not in str(caught.value)
    assert os.listdir(tmp_path / "data") == []


def test_a_server_that_is_down_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound but not listening: connections are refused
        host = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(
            FileError, match=rf"cannot be downloaded from {host} \(Connection refused\)"
        ):
            fetch_dataset("COIL-20", tmp_path, base_url=f"http://{host}")
    assert os.listdir(tmp_path) == []


def fake_openml(monkeypatch, X, y):
    asked = []

    def fetch_openml(**query):
        asked.append(query)
        return SimpleNamespace(data=X, target=y)

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch_openml)
    return asked


def test_sets_of_openml(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((351, 34)), np.array(["g", "b", "g"] * 117, dtype=object)
    asked = fake_openml(monkeypatch, X, y)
    path = fetch_dataset("ionosphere", tmp_path)
    assert (asked[0]["name"], asked[0]["version"]) == ("ionosphere", 1)
    data = load_dataset("Ionosphere", folder=tmp_path)
    np.testing.assert_array_equal(data.X, X)
    np.testing.assert_array_equal(data.y, y == "g")
    path.unlink()
    fake_openml(monkeypatch, X + 1, y)
    with pytest.raises(FileError, match="OpenML's ionosphere: has changed"):
        fetch_dataset("ionosphere", tmp_path)


def test_large_images_of_openml_are_shrunk(tmp_path, monkeypatch):
    large = np.kron(np.arange(28 * 23).reshape(28, 23) % 200, np.ones((4, 4)))
    X, y = np.tile(large.ravel(), (575, 1)), (np.arange(575) % 20).astype(str)
    fake_openml(monkeypatch, X, y)
    data = load_dataset("UMIST", folder=fetch_dataset("UMIST", tmp_path).parent)
    np.testing.assert_array_equal(data.X[3], np.arange(28 * 23) % 200)
    np.testing.assert_array_equal(data.y, np.arange(575) % 20)


def test_openml_out_of_reach_is_named(tmp_path, monkeypatch):
    def refuse(*arguments, **options):
        raise URLError(OSError(113, "No route to host"))

    monkeypatch.setattr("sklearn.datasets._openml.urlopen", refuse)
    with pytest.raises(FileError, match=r"from openml\.org \(No route to host\)"):
        fetch_dataset("Heart", tmp_path)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["CMU PIE", "Yale-B", "Multi-PIE S1", "miniImageNet"])
def test_sets_that_may_not_be_passed_on_say_where_to_ask(tmp_path, name):
    with pytest.raises(FileError, match=r"cannot be downloaded.*ask .* Its home: http"):
        fetch_dataset(name, tmp_path)


def test_nothing_to_fetch(tmp_path):
    with pytest.raises(FileError, match="ships with scikit-learn"):
        fetch_dataset("Breast", tmp_path)
    with pytest.raises(ValueError, match=r"No data set is called 'Cats'\. Known: COIL-20"):
        fetch_dataset("Cats", tmp_path)
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(FileError, match=r"file: cannot be made \("):
        fetch_dataset("Heart", tmp_path / "file")
