"""Data sets by name."""

from __future__ import annotations

import re

import numpy as np
import pytest
import scipy.io
from PIL import Image

from paper.datasets import (
    data_folder,
    dataset_path,
    find_entry,
    list_datasets,
    load_dataset,
)
from paper.datasets.__main__ import main
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


# The command


def test_the_list_says_where_data_are_or_how_to_get_them(tmp_path, capsys):
    save(tmp_path / "Heart.npz")
    main(["--data", str(tmp_path)])
    listed = capsys.readouterr().out
    assert re.search(rf"Heart +270 +13 +2 +{re.escape(str(tmp_path))}", listed)
    assert re.search(r"COIL-20 .*python -m paper\.datasets --fetch 'COIL-20'", listed)
    main(["--fetch", "heart", "--data", str(tmp_path)])
    assert capsys.readouterr().out.strip() == str(tmp_path / "Heart.npz")


@pytest.mark.parametrize(
    ("name", "message"),
    [("magic", "No data set is called 'magic'"), ("CMU PIE", "cannot be downloaded")],
)
def test_what_cannot_be_fetched_is_one_line(tmp_path, capsys, name, message):
    with pytest.raises(SystemExit) as ended:
        main(["--fetch", name, "--data", str(tmp_path)])
    assert ended.value.code == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ")
    assert message in line
