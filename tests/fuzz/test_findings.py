"""What the fuzzer found, each as a test of its own."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
import scipy.io
from scipy import linalg, sparse

from fuzz.cases import case_of
from fuzz.outcomes import outcome_of
from srsg import (
    SMCE,
    L1Graph,
    LocalScalingSpectralClustering,
    RidgeGraph,
    cluster_graph,
)
from srsg.coding import fpgd_sp, ridge_codes
from srsg.coding.sweeps import KEPT_SWEEP
from srsg.cutting.cut import label_embedding
from srsg.cutting.eigenvectors import leading_eigenpairs
from srsg.cutting.embedding import connected_components
from srsg.files import FileError, read_points
from srsg.files.guard import in_other_process
from srsg.graph import symmetrized
from srsg.kernels.arrays import KeptProblems
from srsg.persistence.models import CLUSTERS
from srsg.points import unit_points
from srsg.running import ThreadEngine
from srsg.running.checking import check_arrays
from tests.support.forked import read_in_forks

RULE_OF_EMBEDDING = CLUSTERS["embedding"]


@pytest.fixture
def normal_points():
    return np.random.default_rng(0).standard_normal((20, 4))


@pytest.mark.parametrize("neighbors", [[[1], [4], [0], [0]], [[1], [-1], [0], [0]]])
def test_neighbours_out_of_range_are_refused(neighbors):
    """They made SciPy write out of bounds, and the process died later."""
    with pytest.raises(ValueError, match="neighbors must be from 0 to 3"):
        cluster_graph(np.eye(4), 2, neighbors=np.array(neighbors))


@pytest.mark.parametrize("neighbors", [np.zeros((3, 1), int), np.zeros((4, 1)), np.zeros(4, int)])
def test_neighbours_of_another_kind_are_refused(neighbors):
    with pytest.raises(ValueError, match="neighbors must be integers, one row for each of 4"):
        cluster_graph(np.eye(4), 2, neighbors=neighbors)


@pytest.mark.parametrize("assign_labels", ["discretize", "cluster_qr"])
def test_eigenvectors_that_are_not_one_for_each_cluster_take_kmeans(assign_labels):
    """The labels were as many as the eigenvectors, not as the clusters."""
    with pytest.raises(ValueError, match="n_eigenvectors needs assign_labels='kmeans'"):
        cluster_graph(np.ones((9, 9)), 2, n_eigenvectors=4, assign_labels=assign_labels)


def test_more_eigenvectors_than_points_are_refused():
    with pytest.raises(ValueError, match="n_eigenvectors=21 exceeds the number of points"):
        cluster_graph(np.ones((9, 9)), 2, n_eigenvectors=21)


@pytest.mark.parametrize("n_features", [4, 30])
def test_the_certificate_of_ridge_codes_depends_on_no_block(n_features):
    points = unit_points(np.random.default_rng(0).standard_normal((20, n_features)))
    one, all_at_once = (
        ridge_codes(points, 0.1, engine=ThreadEngine(1, block_size=size)).residual
        for size in (1, 1000)
    )
    np.testing.assert_array_equal(one, all_at_once)


def test_a_ridge_lost_in_rounding_is_named():
    X = np.outer(np.arange(1, 9), np.ones(4)) * [1, -1, 1, 2]
    with pytest.raises(ValueError, match="ridge=1e-300 is too small"):
        RidgeGraph(2, ridge=1e-300).fit(X)
    with pytest.raises(ValueError, match="ridge=1e-16 is too small"):
        RidgeGraph(2, ridge=1e-16, n_neighbors=2).fit(np.eye(6)[[0, 1, 2, 3, 4, 5, 0]])


def test_points_that_are_all_equal_have_empty_ridge_codes():
    """There is no other point to be coded over; a list of no places was written to."""
    model = RidgeGraph(2, n_neighbors=3).fit_graph(np.outer(np.arange(1, 8), [0.0, 2.0]))
    assert model.codes_.nnz == 0
    assert ridge_codes(unit_points([[1.0, 2.0]]), 0.1).codes.shape == (1, 1)


def test_an_smce_weight_that_overflows_is_named(normal_points):
    with pytest.raises(ValueError, match=r"lam=1e[+]300 is too large"):
        SMCE(2, lam=1e300, n_neighbors=3).fit(normal_points)


def test_new_points_too_far_away_are_named(normal_points):
    model = LocalScalingSpectralClustering(2, random_state=0).fit(normal_points)
    far = normal_points[:3] * [[1.0], [1e200], [1.0]]
    with pytest.raises(ValueError, match=r"X is too far from the fitted points .* rows 1"):
        model.predict(far)


def test_weak_edges_of_a_dense_graph_join_its_parts():
    """SciPy takes weights below 1e-8 for zeros if the matrix is dense."""
    W = np.array([[1.0, 1e-9, 0.0], [1e-9, 1.0, 0.0], [0.0, 0.0, 1.0]])
    assert connected_components(W)[0] == 2
    assert connected_components(sparse.csr_array(W))[0] == 2


def test_an_edge_whose_weight_is_zero_is_none():
    codes = sparse.csr_array([[0.0, 5e-324, 1.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    assert symmetrized(codes).nnz == 2


@pytest.mark.parametrize("kind", [SMCE, RidgeGraph])
@pytest.mark.parametrize("name", ["n_neighbors", "n_init", "lam", "n_clusters"])
def test_true_is_no_number(normal_points, kind, name):
    if name in kind().get_params():
        with pytest.raises(TypeError, match=f"{name}=True must not be a bool"):
            kind(**{name: True}).fit(normal_points)


def test_a_graph_of_tiny_weights_must_be_symmetric_too():
    with pytest.raises(ValueError, match="affinity must be symmetric"):
        cluster_graph(np.array([[0.0, 1e-20], [2e-20, 0.0]]), 2)


def test_points_without_a_direction_are_labelled_by_discretize():
    vectors = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [1.0, 0.0]])
    labels = label_embedding(vectors, 2, assign_labels="discretize", random_state=0)
    assert labels[0] == labels[3] != labels[1]
    assert labels[2] in (0, 1)


@pytest.mark.parametrize("size", [(1e200, 1.0, 1.0), (1.0, 1e200, 1.0), (1.0, 1.0, 1e200)])
def test_an_algorithm_1_that_overflows_from_the_start_is_refused(size):
    A, b, z0 = (scale * np.ones(shape) for scale, shape in zip(size, [(2, 3), 2, 3], strict=True))
    with pytest.raises(ValueError, match="A, b or z0 is too large"):
        fpgd_sp(A, b, np.ones(3), 0.1, z0, step=0.1)


def test_a_column_whose_name_has_two_lines_gives_one_line(tmp_path):
    path = tmp_path / "f.csv"
    path.write_text('"first\nsecond",b\n1,2\n3,4\n')
    with pytest.raises(FileError, match="no column called 'a'") as refused:
        read_points(path, labels="a")
    assert "\n" not in str(refused.value)


def test_a_problem_of_no_coordinates_has_room_for_its_one_number():
    """New points without active coordinates: a number was written beyond the end of an array."""
    assert KeptProblems.empty(3, 0).numbers.shape == (3, 1)


def test_eigenvalues_that_lapack_loses_are_found_by_another_driver(monkeypatch):
    """The driver for a part of the spectrum returned none of the eigenvalues of a star."""
    eigh = linalg.eigh

    def forgetful(matrix, subset_by_index=None, **options):
        values, vectors = eigh(matrix, subset_by_index=subset_by_index, **options)
        return (values[:0], vectors[:, :0]) if subset_by_index else (values, vectors)

    matrix = np.diag([0.1, 0.5, 0.9, 0.3])
    monkeypatch.setattr(linalg, "eigh", forgetful)
    values, vectors = leading_eigenpairs(matrix, 2)
    np.testing.assert_allclose(values, [0.9, 0.5])
    np.testing.assert_allclose(matrix @ vectors, vectors * values, atol=1e-14)


def test_huge_points_that_are_far_from_each_other_have_nearest_ones():
    """Squares overflowed where the kernel is zero and the nearest points vote instead."""
    X = 1e222 * np.ones((12, 2))
    model = LocalScalingSpectralClustering(1, scale_neighbor=3, random_state=0).fit(X)
    with np.errstate(over="raise"):
        assert model.predict(np.array([[1.0, -2.0], [0.0, 1e222]])).tolist() == [0, 0]


def test_a_constant_coordinate_too_large_for_float32_is_named(normal_points):
    with pytest.raises(ValueError, match=r"constant coordinate, .* is too large for float32"):
        unit_points(normal_points.astype(np.float32), constant=1e200)


@pytest.mark.parametrize("weight", [1e10, 1e300])
def test_a_bridge_that_overflows_is_named(weight):
    W, neighbors = weight * (1 - np.eye(4)), np.array([[1], [0], [3], [2]])
    with pytest.raises(ValueError, match=r"bridge=1e\+300 is too large"):
        cluster_graph(W, 2, neighbors=neighbors, bridge=1e300)


def test_points_whose_squares_are_zero_are_labelled_by_discretize():
    vectors = np.array([[1.0, 0.0], [0.0, 1.0], [1e-200, 0.0], [1.0, 0.0]])
    with np.errstate(all="raise", under="ignore"):
        labels = label_embedding(vectors, 2, assign_labels="discretize", random_state=0)
    assert labels[0] == labels[3] != labels[1]


# MATLAB files: SciPy's reader died of them.


def test_a_damaged_sparse_matrix_in_a_matlab_file_is_refused(tmp_path):
    path = tmp_path / "f.mat"
    scipy.io.savemat(path, {"fea": sparse.csc_array(np.eye(4, 3)), "gnd": np.arange(4)})
    content = path.read_bytes()
    assert read_points(path).X.shape == (4, 3)
    for at in range(128, len(content), 8):
        path.write_bytes(content[:at] + b"\x7f\xff\xff\xff" + content[at + 4 :])
        with read_in_forks(), contextlib.suppress(FileError):
            assert np.isfinite(read_points(path).X).all()


@pytest.mark.parametrize("do_compression", [False, True])
def test_a_matlab_file_of_many_kinds_is_read_as_scipy_reads_it(tmp_path, do_compression):
    from srsg.files.matlab import load_mat

    path = tmp_path / "f.mat"
    written = {
        "numbers": np.random.default_rng(0).standard_normal((3, 4)),
        "stack": np.arange(24, dtype=np.int16).reshape(2, 3, 4),
        "bytes": np.array([[1, 200]], np.uint8),
        "single": np.array([[1.5]], np.float32),
        "waves": np.array([[1 + 2j, 3]]),
        "empty": np.zeros((0, 3)),
        "thin": sparse.csc_array([[0.0, 2.0], [0.0, 0.0], [3.0, 0.0]]),
    }
    others = {
        "word": "grün",
        "words": np.array(["one", "two"], dtype=object),
        "structure": {"a": 1},
    }
    scipy.io.savemat(path, written | others, do_compression=do_compression)
    found = load_mat(path)
    for name, value in written.items():
        expected = value.toarray() if sparse.issparse(value) else value
        np.testing.assert_array_equal(found[name], expected)
        assert found[name].dtype == expected.dtype
    assert found["word"].tolist() == ["grün"]
    assert found["words"].tolist() == ["one", "two"]
    assert "structure" not in found


def test_ridge_vectors_beyond_single_precision_are_refused():
    rng = np.random.default_rng(0)
    points, new = unit_points(rng.standard_normal((4, 8))), unit_points(rng.standard_normal((3, 8)))
    assert ridge_codes(points, 1e-20, queries=new).codes.nnz
    with pytest.raises(ValueError, match="too small"):
        ridge_codes(points, 1e-45, queries=new)


def test_new_points_beside_rows_of_zeros_only_are_labelled():
    """The range of no lengths at all was asked for."""
    model = L1Graph(1, affine=1.0, n_neighbors=2, random_state=0).fit(np.zeros((5, 3)))
    assert model.predict(np.eye(3)).tolist() == [0, 0, 0]


def test_an_objective_that_rounding_leaves_below_zero_is_no_damage():
    """Sweeps that were kept were taken for damaged, and done again."""
    check_arrays({"objective": np.array([1.0, -1e-17])}, {"objective": KEPT_SWEEP["objective"]}, {})


def test_an_embedding_beyond_unit_length_is_no_embedding():
    """Distances in it overflowed."""
    sizes = {"n": 1, "clusters": 2}
    check_arrays({"embedding": np.array([[0.6, 0.8]])}, {"embedding": RULE_OF_EMBEDDING}, sizes)
    with pytest.raises(ValueError, match="embedding: has values above"):
        check_arrays(
            {"embedding": np.array([[0.0, 1e300]])}, {"embedding": RULE_OF_EMBEDDING}, sizes
        )


def test_a_file_that_asks_for_too_much_memory_is_named():
    with pytest.raises(FileError, match=r"points\.feather: is damaged, or takes more than"):
        in_other_process("points.feather", 0, bytearray, 2**58)


@pytest.mark.parametrize("number", [124312, 135045])
def test_kept_codes_do_not_change_where_the_penalty_is_below_rounding(number):
    """They were solved for again, and one of many codes as good was found."""
    _, case, rng = case_of(number)
    assert outcome_of(case, rng) == "done"
