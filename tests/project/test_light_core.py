"""The library without the packages of the cli extra, as ``pip install .`` leaves it."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def modules(requirements):
    """The names under which packages are imported."""
    return [re.match(r"[\w-]+", text)[0].replace("-", "_") for text in requirements]


CLI = modules(PROJECT["optional-dependencies"]["cli"])


# Not None in sys.modules: scikit-learn looks there for pyarrow.
BLOCKED = """
import sys
class Missing:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in MISSING:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing)
"""


def run_without(missing, program, *arguments):
    """Run a program where some modules cannot be imported."""
    program = f"MISSING = {missing}\n{BLOCKED}\n{program}"
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_core_is_small():
    core = {"joblib", "numba", "numpy", "scikit_learn", "scipy", "threadpoolctl"}
    assert set(modules(PROJECT["dependencies"])) == core


FITS = """
import numpy as np
import srsg
from sklearn.base import BaseEstimator
from srsg.datasets import make_union_of_subspaces
from srsg.files import read_points, write_graph, write_labels
from srsg.metrics import clustering_accuracy
from srsg.persistence import load_model, save_model
from srsg.report import write_report

folder = sys.argv[1]
X, y = make_union_of_subspaces(n_samples=60, random_state=0)
np.save(f"{folder}/points.npy", X)
X = read_points(f"{folder}/points.npy").X
for name in srsg.__all__:
    estimator = getattr(srsg, name)
    if isinstance(estimator, type) and issubclass(estimator, BaseEstimator):
        wraps = estimator is srsg.PreparedClusterer
        given = {"clusterer": srsg.L1Graph(3)} if wraps else {"n_clusters": 3, "random_state": 0}
        model = estimator(**given).fit(abs(X @ X.T) if estimator is srsg.GraphClustering else X)
        clustering_accuracy(y, model.labels_)
        print(name)
model = srsg.SRSG(n_clusters=3, random_state=0).fit(X)
save_model(model, f"{folder}/model.srsg")
load_model(f"{folder}/model.srsg").predict(X)
write_report(f"{folder}/page.html", model, X)
write_graph(f"{folder}/graph.graphml", model.affinity_matrix_)
write_labels(f"{folder}/labels.csv", model.labels_)
"""


def test_every_estimator_fits_and_its_results_are_written(tmp_path):
    import srsg

    done = run_without(CLI, FITS, tmp_path)
    assert done.returncode == 0, done.stderr
    functions = {"cluster_graph", "explain", "methods"}
    functions |= {"config_context", "get_config", "set_config"}
    assert set(done.stdout.split()) == set(srsg.__all__) - functions
    written = {path.name for path in tmp_path.iterdir()}
    assert written == {"points.npy", "page.html", "graph.graphml", "labels.csv", "model.srsg"}


def test_pictures_need_matplotlib_only():
    pytest.importorskip("matplotlib", reason="needs srsg[plot]")
    program = (
        "import matplotlib; matplotlib.use('agg')\n"
        "import numpy as np; from srsg.plot import affinity; affinity(np.eye(4))"
    )
    done = run_without(CLI, program)
    assert done.returncode == 0, done.stderr


ON_DASK = """
import numpy as np
from distributed import Client
from srsg import L1Graph, config_context
from srsg.running.dask.files import read_array
with Client(processes=False, n_workers=1, dashboard_address=None) as client:
    array, _ = read_array(sys.argv[1], client)
    with config_context(engine=client):
        L1Graph(3).fit(array)
"""


def test_dask_engine_needs_dask_only(tmp_path):
    pytest.importorskip("distributed", reason="needs srsg[dask]")
    import numpy as np

    np.save(tmp_path / "points.npy", np.random.default_rng(0).normal(size=(40, 5)))
    done = run_without(CLI, ON_DASK, tmp_path / "points.npy")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("missing", "program", "message"),
    [
        ("pyarrow", "srsg.files.read_points(path)", "Tables need pyarrow"),
        ("pyarrow", "srsg.files.write_labels('l.parquet', [0])", "Parquet files need pyarrow"),
        ("pyarrow", "srsg.files.write_labels('l.feather', [0])", "Feather files need pyarrow"),
        (
            "python_calamine",
            "from pathlib import Path; from srsg.files.tables import read_excel; "
            "read_excel(Path('f.xlsx'), srsg.files.contents.Request())",
            "Spreadsheets need python-calamine",
        ),
        ("xlsxwriter", "srsg.files.write_labels('l.xlsx', [0])", "Spreadsheets need XlsxWriter"),
    ],
)
def test_what_needs_a_missing_library_says_so(tmp_path, missing, program, message):
    (tmp_path / "f.csv").write_text("a,b\n1,2\n")
    program = (
        f"import os; os.chdir({str(tmp_path)!r}); path = 'f.csv'; open('f.xlsx', 'w').write('x')\n"
        f"import srsg.files\n{program}"
    )
    done = run_without([missing], program)
    last = done.stderr.splitlines()[-1]
    assert last == f"ModuleNotFoundError: {message}: pip install 'srsg[cli]'."
    assert {path.name for path in tmp_path.iterdir()} == {"f.csv", "f.xlsx"}


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_command_without_its_libraries_is_one_line(missing):
    program = "sys.argv = ['srsg', '--help']\nfrom runpy import run_module\n"
    done = run_without([missing], program + "run_module('srsg', run_name='__main__')")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == f"error: the srsg command needs {missing}: pip install 'srsg[cli]'.\n"
