"""Points in float32 and in float64 share the compiled kernels."""

import sys

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

from srsg.coding import approximate_l1_codes, l1_codes, srsg_codes
from srsg.kernels.arrays import Codes
from srsg.kernels.codes import residuals
from srsg.kernels.correlations import nearest, violators
from srsg.kernels.lasso import solve_working_sets
from srsg.kernels.sweep import sweep_points
from srsg.points import kernel_rows, unit_points
from support.estimators import ALL_ESTIMATORS

KERNELS = (residuals, nearest, violators, solve_working_sets, sweep_points)


def fitted(X):
    points = unit_points(X)
    l1 = l1_codes(points, 0.1, n_neighbors=3)
    return srsg_codes(points, l1.codes, l1.neighbors, gamma=0.1, step=0.1)


@pytest.fixture
def table():
    return np.random.default_rng(0).standard_normal((40, 6))


def test_float32_points_compile_nothing_more(table):
    fitted(table)
    before = [list(kernel.signatures) for kernel in KERNELS]
    fitted(table.astype(np.float32))
    assert [list(kernel.signatures) for kernel in KERNELS] == before


def compiled_signatures():
    """What every compiled function of the package has been compiled for."""
    modules = [module for name, module in sys.modules.items() if name.startswith("srsg.kernels.")]
    functions = {
        (module.__name__, name): function.signatures
        for module in modules
        for name, function in vars(module).items()
        if isinstance(function, Dispatcher)
    }
    return {place: list(found) for place, found in functions.items()}


@pytest.mark.parametrize("estimator", ALL_ESTIMATORS)
def test_no_estimator_compiles_more_for_float32(estimator):
    X = np.random.default_rng(0).standard_normal((60, 6))
    for dtype in (np.float64, np.float32):
        points = X.astype(dtype)
        estimator(3, random_state=0).fit(points[:50]).predict(points[50:])
        if dtype == np.float64:
            before = compiled_signatures()
    assert compiled_signatures() == before


def test_approximate_codes_share_the_kernels_too(table):
    pytest.importorskip("faiss")
    fitted(table)
    before = [list(kernel.signatures) for kernel in KERNELS]
    for dtype in (np.float64, np.float32):
        approximate_l1_codes(unit_points(table.astype(dtype)), 0.1, n_candidates=20)
    assert [list(kernel.signatures) for kernel in KERNELS] == before


def test_float32_points_are_converted_before_any_product(table):
    single = unit_points(table.astype(np.float32)).x
    assert single.dtype == np.float32
    codes = Codes(np.array([[1, 2]]), np.array([[0.3, -0.7]]), np.array([2]))
    double = single.astype(np.float64)
    found = (residuals(kernel_rows(x), kernel_rows(x[:1]), codes) for x in (single, double))
    np.testing.assert_array_equal(*found)


def test_kernel_rows_copy_nothing(table):
    for dtype, name in ((np.float64, "double"), (np.float32, "single")):
        x = table.astype(dtype)
        rows = kernel_rows(x)
        assert getattr(rows, name) is x
        assert len(rows.double) + len(rows.single) == len(x)
