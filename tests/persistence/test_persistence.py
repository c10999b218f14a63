"""Saved models: the same bits back, nothing executed, clear words for bad files."""

from __future__ import annotations

import json
import os
import sys
import zipfile

import numpy as np
import pandas as pd
import pytest
import skops.io
from joblib import Memory
from sklearn.cluster import MiniBatchKMeans
from sklearn.datasets import load_digits

from srsg import SRSG, L1Graph
from srsg.files import FileError
from srsg.persistence import FORMAT, load_model, save_model
from support.estimators import ALL_ESTIMATORS

X = load_digits().data[:120]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.srsg"


@pytest.fixture
def saved(path):
    save_model(L1Graph(3, random_state=0).fit(X), path)
    return path


@pytest.mark.parametrize("estimator", ALL_ESTIMATORS)
def test_a_loaded_model_is_the_same(estimator, path):
    model = estimator(3, random_state=0).fit(X[:80])
    save_model(model, path)
    loaded = load_model(path)
    assert type(loaded) is estimator
    assert loaded.get_params() == model.get_params()
    assert vars(loaded).keys() == vars(model).keys()
    np.testing.assert_array_equal(loaded.labels_, model.labels_)
    left, right = loaded.transform(X), model.transform(X)
    assert type(left) is type(right)
    np.testing.assert_array_equal(left.toarray(), right.toarray())
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_names_of_features_and_start_codes_are_kept(path):
    frame = pd.DataFrame(X).add_prefix("pixel ")
    init = L1Graph(3).fit_graph(X).codes_
    save_model(SRSG(3, init=init, random_state=np.random.RandomState(0)).fit(frame), path)
    loaded = load_model(str(path))
    assert list(loaded.feature_names_in_) == list(frame.columns)
    assert (loaded.init != init).nnz == 0
    assert loaded.predict(frame).shape == (120,)


def test_a_file_says_which_versions_wrote_it(saved):
    with zipfile.ZipFile(saved) as archive:
        versions = json.loads(archive.read("srsg.json"))
    assert versions["format"] == FORMAT
    assert versions["srsg"]


def test_a_newer_format_is_refused(saved):
    with zipfile.ZipFile(saved) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    entries["srsg.json"] = json.dumps({"format": FORMAT + 1, "srsg": "9.9"})
    with zipfile.ZipFile(saved, "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    with pytest.raises(ValueError, match=rf"model\.srsg has format {FORMAT + 1}.*srsg 9\.9"):
        load_model(saved)


class Exploit:
    """Touches a file when it is unpickled, or rebuilt with its state."""

    def __init__(self, target):
        self.target = str(target)

    def __reduce__(self):
        return (open, (self.target, "w"))

    def __setstate__(self, state):
        open(state["target"], "w").close()


@pytest.mark.parametrize("where", ["top", "parameter"])
def test_untrusted_types_are_refused_and_not_run(path, tmp_path, where):
    evil = Exploit(tmp_path / "was run")
    if where == "parameter":
        evil = L1Graph(3, random_state=0).fit(X).set_params(memory=evil)
    skops.io.dump(evil, path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("srsg.json", json.dumps({"format": FORMAT, "srsg": "0.1.0"}))
    with pytest.raises(ValueError, match=r"model\.srsg holds types that are not trusted.*Exploit"):
        load_model(path)
    assert not (tmp_path / "was run").exists()


def test_pickles_are_refused_and_not_run(path, tmp_path):
    import pickle

    path.write_bytes(pickle.dumps(Exploit(tmp_path / "was run")))
    with pytest.raises(ValueError, match=r"model\.srsg is not a model that srsg saved"):
        load_model(path)
    assert not (tmp_path / "was run").exists()


def test_other_models_are_refused(path):
    kmeans = MiniBatchKMeans(2, n_init=1).fit(X)
    with pytest.raises(TypeError, match="got MiniBatchKMeans"):
        save_model(kmeans, path)
    assert not path.exists()
    skops.io.dump(kmeans, path)
    with pytest.raises(ValueError, match="is not a model that srsg saved"):
        load_model(path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("srsg.json", json.dumps({"format": FORMAT, "srsg": "0.1.0"}))
    with pytest.raises(ValueError, match="holds a MiniBatchKMeans"):
        load_model(path)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_a_file_cut_short_is_named(saved, share):
    content = saved.read_bytes()
    saved.write_bytes(content[: int(share * len(content))])
    with pytest.raises(
        ValueError, match=r"model\.srsg is not a model that srsg saved, or is incomplete"
    ):
        load_model(saved)


def test_a_damaged_file_is_named(saved):
    with zipfile.ZipFile(saved) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    name = next(name for name in entries if name.endswith(".npz"))
    entries[name] = b"nothing"
    with zipfile.ZipFile(saved, "w") as archive:
        for entry, content in entries.items():
            archive.writestr(entry, content)
    with pytest.raises(ValueError, match=r"model\.srsg is damaged"):
        load_model(saved)


def test_a_missing_file(path):
    with pytest.raises(FileNotFoundError, match=r"model\.srsg"):
        load_model(path)


def test_a_failed_save_leaves_the_old_file_alone(saved, tmp_path):
    before = saved.read_bytes()
    model = L1Graph(3).fit(X).set_params(lam=Memory(None))
    with pytest.raises(TypeError, match=r"joblib\.memory\.Memory"):
        save_model(model, saved)
    assert saved.read_bytes() == before
    assert os.listdir(tmp_path) == ["model.srsg"]
    with pytest.raises(FileError, match="there is no folder"):
        save_model(model.set_params(lam=0.1), tmp_path / "nowhere" / "model.srsg")


def test_skops_is_named_where_it_is_missing(monkeypatch, path):
    monkeypatch.setitem(sys.modules, "skops.io", None)
    with pytest.raises(ImportError, match=r"pip install 'srsg\[cli\]'"):
        load_model(path)
