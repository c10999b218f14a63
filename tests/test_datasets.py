"""Data sets by name, their downloads, and made-up ones."""

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
from itertools import combinations
from types import SimpleNamespace
from urllib.error import URLError

import numpy as np
import pytest
import scipy.io
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from scipy.linalg import subspace_angles
from scipy.spatial.distance import cdist

from srsg.datasets import (
    catalogue,
    data_folder,
    dataset_path,
    fetch_dataset,
    find_entry,
    list_datasets,
    load_dataset,
    make_noisy_manifolds,
    make_trefoil_knots,
    make_union_of_subspaces,
)
from srsg.files import FileError


def save(path, n=6, **arrays):
    path.parent.mkdir(exist_ok=True)
    X = np.arange(4 * n, dtype=np.uint8).reshape(n, 4)
    np.savez(path, **{"X": X, "y": np.arange(n, dtype=np.int32)[::-1] % 3 + 1, **arrays})
    return X


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("coil20", "COIL-20"),
        ("COIL 100", "COIL-100"),
        ("Yale-B", "Yale-B"),
        ("pie", "CMU PIE"),
        ("CMU PIE", "CMU PIE"),
        ("multi-pie s3", "Multi-PIE S3"),
        ("UMIST", "UMIST Face"),
        ("umist_face", "UMIST Face"),
        ("mini-imagenet", "miniImageNet"),
    ],
)
def test_names_are_forgiving(written, name):
    assert find_entry(written).name == name


def test_every_entry_is_found_by_its_own_name():
    for entry in list_datasets():
        assert find_entry(entry.name) is entry
        assert all(find_entry(stem) is entry for stem in entry.stems)


def test_rows_stay_in_order_and_the_first_clusters_have_the_smallest_labels(tmp_path):
    X = save(tmp_path / "COIL20.npz", shape=(2, 2))
    data = load_dataset("coil-20", folder=tmp_path)
    assert (data.name, data.image_shape, data.n_clusters) == ("COIL-20", (2, 2), 3)
    np.testing.assert_array_equal(data.X, X)
    assert data.X.dtype == np.float64
    np.testing.assert_array_equal(data.y, [3, 2, 1, 3, 2, 1])
    two = load_dataset("coil-20", 2, folder=tmp_path)
    np.testing.assert_array_equal(two.y, [2, 1, 2, 1])
    np.testing.assert_array_equal(two.X, X[[1, 2, 4, 5]])
    assert two.image_shape == (2, 2)


@pytest.mark.parametrize("n_clusters", [0, 4])
def test_numbers_of_clusters_that_are_not_there(tmp_path, n_clusters):
    save(tmp_path / "COIL20.npz")
    with pytest.raises(ValueError, match=r"between 1 and the 3 classes of COIL-20"):
        load_dataset("COIL-20", n_clusters, folder=tmp_path)


def test_any_file_of_the_folder_is_a_data_set(tmp_path):
    save(tmp_path / "extra" / "My Letters.npz")
    assert load_dataset("my-letters", folder=tmp_path).name == "My Letters"


def test_missing_data_say_where_and_how(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        load_dataset("yaleb", folder=tmp_path)
    for part in ("Yale-B", str(tmp_path), "YaleB.npz", "YaleB.mat", "YaleB/", "ask its owners"):
        assert part in str(caught.value)
    with pytest.raises(FileNotFoundError, match=r"No data set is called 'Cats'.*Known: COIL-20"):
        load_dataset("Cats", folder=tmp_path)


def test_the_folder_is_the_argument_then_the_environment_then_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SRSG_DATA", str(tmp_path / "env"))
    assert data_folder(tmp_path) == tmp_path
    assert data_folder() == tmp_path / "env"
    monkeypatch.delenv("SRSG_DATA")
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert data_folder() == tmp_path / "xdg" / "srsg"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert data_folder() == tmp_path / ".cache" / "srsg"
    monkeypatch.setattr("sys.platform", "darwin")
    assert data_folder() == tmp_path / "Library" / "Caches" / "srsg"
    monkeypatch.setattr("sys.platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert data_folder() == tmp_path / "local" / "srsg"


@pytest.mark.parametrize("entry", list_datasets(), ids=lambda entry: entry.name)
def test_the_papers_data_are_what_the_catalogue_says(entry):
    try:
        data = load_dataset(entry.name)
    except FileNotFoundError as error:
        pytest.skip(str(error))
    assert data.X.shape == (entry.n_samples, entry.n_features)
    assert data.n_clusters == entry.n_classes
    assert data.image_shape == entry.image_shape


def test_path(tmp_path):
    save(tmp_path / "Heart.npz")
    assert dataset_path("heart", folder=tmp_path) == tmp_path / "Heart.npz"


@pytest.mark.parametrize(
    ("name", "size", "n_clusters"),
    [
        ("ORL", (400, 1024), 40),
        ("Isolet", (1560, 617), 26),
        ("lymphoma", (96, 4026), 9),
        ("PCMAC", (1943, 3289), 2),
    ],
)
def test_data_the_paper_did_not_use(name, size, n_clusters):
    try:
        data = load_dataset(name)
    except FileNotFoundError as error:
        pytest.skip(str(error))
    assert (data.X.shape, data.n_clusters) == (size, n_clusters)


def test_matlab_files_with_points_in_columns_give_upright_images(tmp_path):
    rng = np.random.default_rng(0)
    images = rng.integers(0, 255, (5, 28, 23))
    columns = images.swapaxes(1, 2).reshape(5, -1).T  # as MATLAB's images(:) has them
    scipy.io.savemat(tmp_path / "umist.mat", {"fea": columns, "gnd": [[1, 1, 2, 2, 3]]})
    data = load_dataset("UMIST Face", folder=tmp_path)
    assert data.image_shape == (28, 23)
    np.testing.assert_array_equal(data.X.reshape(images.shape), images)
    np.testing.assert_array_equal(data.y, [1, 1, 2, 2, 3])


def test_npz_comes_before_mat_and_the_usual_name_before_others(tmp_path):
    scipy.io.savemat(tmp_path / "YaleB.mat", {"fea": np.eye(3), "gnd": [[1, 2, 3]]})
    save(tmp_path / "ExtendedYaleB.npz")
    assert dataset_path("Yale-B", folder=tmp_path).name == "YaleB.mat"
    save(tmp_path / "YaleB.npz")
    assert dataset_path("Yale-B", folder=tmp_path).name == "YaleB.npz"


def test_folders_of_images_with_the_class_in_their_names(tmp_path):
    for name in ("obj10__0.png", "obj2__10.png", "obj2__9.png"):
        (tmp_path / "coil-20").mkdir(exist_ok=True)
        Image.new("L", (128, 128), 9).save(tmp_path / "coil-20" / name)
    data = load_dataset("COIL-20", folder=tmp_path)
    assert data.image_shape == (32, 32)
    np.testing.assert_array_equal(data.y, [2, 2, 10])
    Image.new("L", (128, 128)).save(tmp_path / "coil-20" / "other.png")
    with pytest.raises(FileError, match=r"coil-20: has no labels"):
        load_dataset("COIL-20", folder=tmp_path)


def test_folders_of_images_in_folders_of_their_class(tmp_path):
    for name in ("b", "a"):
        (tmp_path / "My Faces" / name).mkdir(parents=True)
        Image.new("RGB", (5, 4), "red").save(tmp_path / "My Faces" / name / "1.png")
    data = load_dataset("myfaces", folder=tmp_path)
    assert (data.name, data.image_shape) == ("My Faces", (4, 5, 3))
    np.testing.assert_array_equal(data.y, [0, 1])


def test_broken_files_are_named(tmp_path):
    (tmp_path / "Heart.npz").write_bytes(b"PK rubbish")
    with pytest.raises(FileError, match=r"Heart\.npz: cannot be read"):
        load_dataset("Heart", folder=tmp_path)


# Downloads ---------------------------------------------------------------------------------------


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
    assert kept == f"{hashlib.sha256(content).hexdigest()}  coil-20-proc.zip\n"
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
        with pytest.raises(FileError, match=rf"cannot be had from {host} \(Connection refused\)"):
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


# Made-up data ------------------------------------------------------------------------------------

seeds = st.integers(0, 2**32 - 1)


@given(
    n_subspaces=st.integers(1, 4),
    dimension=st.integers(1, 4),
    overlap=st.integers(0, 3),
    outliers=st.integers(0, 3),
    seed=seeds,
)
def test_subspaces_have_their_dimension_and_their_overlap(
    n_subspaces, dimension, overlap, outliers, seed
):
    overlap = min(overlap, dimension - 1)
    options = {
        "n_subspaces": n_subspaces,
        "dimension": dimension,
        "n_features": 40,
        "overlap": overlap,
        "outliers": outliers,
        "random_state": seed,
    }
    X, y = make_union_of_subspaces(8 * n_subspaces + 1, **options)
    assert X.shape == (8 * n_subspaces + 1 + outliers, 40)
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1)
    counts = [int((y == label).sum()) for label in (-1, *range(n_subspaces))]
    assert counts == [outliers, 9, *[8] * (n_subspaces - 1)]
    bases = [X[y == label].T for label in range(n_subspaces)]
    assert all(np.linalg.matrix_rank(basis) == dimension for basis in bases)
    for one, other in combinations(bases, 2):
        angles = subspace_angles(one, other)
        assert np.sum(angles[-dimension:] < 1e-6) == overlap
    again, _ = make_union_of_subspaces(8 * n_subspaces + 1, **options)
    np.testing.assert_array_equal(again, X)


def test_noise_on_subspaces_has_its_size():
    quiet, _ = make_union_of_subspaces(2000, outliers=3, random_state=0)
    noisy, _ = make_union_of_subspaces(2000, outliers=3, noise=0.1, random_state=0)
    assert np.std(noisy[:2000] - quiet[:2000]) == pytest.approx(0.1, rel=0.02)
    np.testing.assert_array_equal(noisy[2000:], quiet[2000:])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"overlap": 3}, "overlap=3 must be below dimension=3"),
        ({"overlap": -1}, "overlap=-1 must be at least 0"),
        ({"n_features": 5}, "n_features=5 must be at least 6"),
        ({"n_subspaces": 0}, "n_subspaces=0 must be at least 1"),
    ],
)
def test_subspaces_that_cannot_be(options, message):
    with pytest.raises(ValueError, match=message):
        make_union_of_subspaces(10, **options)


@given(
    kind=st.sampled_from(["loops", "rolls"]),
    n_manifolds=st.integers(2, 4),
    gap=st.floats(0.1, 2.0),
    seed=seeds,
)
def test_manifolds_keep_their_distance(kind, n_manifolds, gap, seed):
    options = {"n_manifolds": n_manifolds, "kind": kind, "gap": gap, "random_state": seed}
    X, y = make_noisy_manifolds(101, **options)
    assert X.shape == (101, 50)
    assert np.linalg.matrix_rank(X) == 3
    counts = np.bincount(y)
    assert len(counts) == n_manifolds
    assert counts.max() - counts.min() <= 1
    for one, other in combinations(range(n_manifolds), 2):
        # Spirals are a little closer than along the radius, by the cosine of their slope.
        assert cdist(X[y == one], X[y == other]).min() > gap * (1 - 1e-9) * 0.98
    np.testing.assert_array_equal(make_noisy_manifolds(101, **options)[0], X)


def test_loops_are_exactly_a_gap_apart():
    X, y = make_noisy_manifolds(4000, gap=0.7, random_state=0)
    distances = cdist(X[y == 0], X[y == 1])
    assert distances.min() == pytest.approx(0.7, abs=1e-4)
    assert distances.min() >= 0.7 - 1e-12


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "knots"}, "kind='knots' must be 'loops' or 'rolls'"),
        ({"gap": 0.0}, "gap=0.0 must be positive"),
        ({"n_features": 2}, "n_features=2 must be at least 3"),
    ],
)
def test_manifolds_that_cannot_be(options, message):
    with pytest.raises(ValueError, match=message):
        make_noisy_manifolds(10, **options)


def test_noise_on_manifolds_has_its_size():
    for make in (make_noisy_manifolds, make_trefoil_knots):
        quiet, _ = make(400, random_state=0)
        noisy, _ = make(400, noise=0.1, random_state=0)
        assert np.std(noisy - quiet) == pytest.approx(0.1, rel=0.05)
