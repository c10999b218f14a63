"""Names and parameters of 0.1.0 warn and still work."""

from __future__ import annotations

from importlib import import_module

import pytest
from sklearn.base import clone

import srsg

MOVED = [
    ("solvers", "l1_codes"),
    ("solvers", "fpgd_sp"),
    ("engines", "ThreadEngine"),
    ("engines", "send_progress_to"),
    ("selection", "StabilitySearch"),
    ("neighbors", "nearest_neighbors"),
    ("neighbors", "neighbor_graph"),
]
RENAMED = [
    ("SRSG", "memory", "store", "folder"),
    ("SRSG", "checkpoint", "store", "folder"),
    ("RidgeGraph", "memory", "store", "folder"),
    ("ElasticNetGraph", "gamma", "lam_divisor", 20.0),
    ("ElasticNetGraph", "keep_largest", "n_nonzero", 3),
    ("OMPGraph", "tol", "max_residual", 1e-3),
    ("SMCE", "keep", "weight_share", 0.9),
]


@pytest.mark.parametrize(("module", "name"), MOVED)
def test_modules_that_moved(module, name):
    with pytest.warns(FutureWarning, match=rf"srsg\.{module}\.{name} is srsg\..*{name} since 0.2"):
        assert callable(getattr(import_module(f"srsg.{module}"), name))


def test_names_that_never_were():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = import_module("srsg.solvers").nothing


@pytest.mark.parametrize(("estimator", "old", "new", "value"), RENAMED)
def test_parameters_that_were_renamed(estimator, old, new, value):
    kind = getattr(srsg, estimator)
    with pytest.warns(FutureWarning, match=f"{old} of {estimator} is {new} since 0.2"):
        model = kind(3, **{old: value})
    assert model.get_params()[new] == value
    assert old not in model.get_params()
    assert clone(model).get_params() == model.get_params()
