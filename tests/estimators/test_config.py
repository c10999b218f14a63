"""Settings that are said once for all estimators."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Thread

import numpy as np
import pytest

import srsg
from srsg import L1Graph, OMPGraph, config_context, get_config, set_config

DEFAULT = {"engine": "threads", "max_memory": None, "max_time": None}
X = np.random.default_rng(0).standard_normal((60, 8))


@pytest.fixture(autouse=True)
def restored():
    yield
    set_config(**DEFAULT)


def in_another_thread(function):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result()


def test_blocks_nest_and_give_the_settings_back():
    assert get_config() == DEFAULT
    with config_context(max_memory="2GB"):
        assert get_config() == {**DEFAULT, "max_memory": "2GB"}
        with config_context(engine="dask"):
            assert get_config() == {**DEFAULT, "engine": "dask", "max_memory": "2GB"}
            with config_context(max_memory=None, engine="threads"):
                assert get_config() == DEFAULT
        assert get_config() == {**DEFAULT, "max_memory": "2GB"}
    assert get_config() == DEFAULT


def test_errors_give_the_settings_back():
    with pytest.raises(ZeroDivisionError), config_context(max_memory="2GB"):
        1 / 0  # noqa: B018
    assert get_config() == DEFAULT


def test_what_get_config_returns_is_a_copy():
    get_config()["max_memory"] = 5
    assert get_config() == DEFAULT


def test_set_config_is_for_all_threads_and_a_block_for_its_own():
    set_config(max_memory="4GB")
    assert get_config()["max_memory"] == "4GB"
    assert in_another_thread(get_config)["max_memory"] == "4GB"
    with config_context(max_memory="1GB"):
        assert in_another_thread(get_config)["max_memory"] == "4GB"
        set_config(max_memory="3GB")
        assert get_config()["max_memory"] == "1GB"
    assert get_config()["max_memory"] == "3GB"


def test_threads_do_not_see_the_blocks_of_each_other():
    seen = {}

    def look(amount):
        with config_context(max_memory=amount):
            for _ in range(200):
                seen.setdefault(amount, set()).add(get_config()["max_memory"])

    threads = [Thread(target=look, args=(amount,)) for amount in (10**9, 2 * 10**9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == {10**9: {10**9}, 2 * 10**9: {2 * 10**9}}


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"n_jobs": 2}, TypeError, "'n_jobs' is not a setting: these are engine, max_memory"),
        ({"max_memory": True}, ValueError, "max_memory=True must be a positive number"),
        ({"max_memory": np.inf}, ValueError, "max_memory=inf must be"),
        ({"max_memory": [1]}, ValueError, r"max_memory=\[1\] must be"),
        ({"max_memory": "lots"}, ValueError, "lots"),
        ({"max_memory": -1}, ValueError, "-1"),
        ({"max_memory": 0}, ValueError, "0"),
        ({"engine": None}, TypeError, "engine=None must be"),
        ({"engine": 3}, TypeError, "engine=3 must be"),
    ],
)
def test_bad_settings_are_named_and_change_nothing(settings, error, message):
    with pytest.raises(error, match=message):
        set_config(**settings)
    with pytest.raises(error, match=message), config_context(**settings):
        pass
    assert get_config() == DEFAULT


def test_fits_and_predictions_follow_the_settings():
    model = L1Graph(2, random_state=0)
    with config_context(max_memory="1KB"):
        with pytest.raises(ValueError, match="too little"):
            model.fit(X)
        assert not hasattr(model, "labels_")
    model.fit(X)
    with config_context(max_memory="1KB"), pytest.raises(ValueError, match="too little"):
        model.predict(X)
    with config_context(max_memory="3MB"):
        np.testing.assert_array_equal(L1Graph(2, random_state=0).fit(X).labels_, model.labels_)


def test_what_cannot_run_on_a_cluster_runs_on_threads():
    with config_context(engine="tcp://127.0.0.1:1"):  # where nobody listens
        labels = OMPGraph(2, random_state=0).fit_predict(X)
    np.testing.assert_array_equal(labels, OMPGraph(2, random_state=0).fit_predict(X))


def test_settings_are_named_in_the_package():
    assert {"config_context", "get_config", "set_config"} <= set(dir(srsg))
    assert srsg.get_config is get_config
