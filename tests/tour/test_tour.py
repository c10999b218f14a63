"""A tour of ordinary files: what a person who brings one expects of the installed command.

Data are small, and where the method does not matter it is K-means. Each kind of outcome is seen
once in a process of its own; starting one for every file would take most of the time.
"""

from __future__ import annotations

import gzip
import json
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
import xlsxwriter
from PIL import Image
from scipy import sparse
from sklearn.datasets import load_iris, load_wine, make_moons

from support.cli_runs import command, run

IRIS, KINDS = load_iris(return_X_y=True)
NAMES = ["sepal length", "sepal width", "petal length", "petal width"]
WORDS = np.array(["setosa", "versicolor", "virginica"])[KINDS]
RNG = np.random.default_rng(0)


def lines_of(columns, sep=",", header=True):
    rows = [list(columns)] if header else []
    rows += [list(map(str, row)) for row in zip(*columns.values(), strict=True)]
    return "".join(sep.join(row) + "\n" for row in rows)


def iris(**more):
    """Columns of the iris table, others in front, the kinds last."""
    return {**more, **dict(zip(NAMES, IRIS.T.tolist(), strict=True)), "kind": WORDS}


def text(name, content, encoding="utf-8"):
    def make(folder):
        (folder / name).write_text(content, encoding=encoding)
        return folder / name

    return make


def raw(name, content):
    def make(folder):
        (folder / name).write_bytes(content)
        return folder / name

    return make


def parquet(folder):
    pyarrow.parquet.write_table(pa.table(iris()), folder / "f.parquet")
    return folder / "f.parquet"


def embeddings(folder):
    """Vectors around two directions, in a column beside their texts."""
    X = RNG.normal(size=(60, 16)) + 4 * np.eye(16)[np.arange(60) % 2]
    columns = {"text": [f"text {row}" for row in range(60)], "e": X.tolist()}
    pyarrow.parquet.write_table(pa.table(columns), folder / "f.parquet")
    return folder / "f.parquet"


def cut_parquet(folder):
    path = parquet(folder)
    return raw("cut.parquet", path.read_bytes()[:-200])(folder)


def spreadsheet(folder):
    with xlsxwriter.Workbook(folder / "f.xlsx") as book:
        sheet = book.add_worksheet("flowers")
        columns = iris()
        for place, row in enumerate([tuple(columns), *zip(*columns.values(), strict=True)]):
            sheet.write_row(
                place, 0, [str(cell) if isinstance(cell, np.str_) else cell for cell in row]
            )
        book.add_worksheet("notes").write(0, 0, "nothing of interest")
    return folder / "f.xlsx"


def cover_sheet(folder):
    with xlsxwriter.Workbook(folder / "f.xlsx") as book:
        cover = book.add_worksheet("cover")
        for row in range(3):
            cover.write_row(row, 0, [f"remark {row}", f"by author {row}"])
        book.add_worksheet("flowers").write_row(0, 0, [1, 2])
    return folder / "f.xlsx"


def two_files(folder):
    """The second has its columns in another order; the first is DATA, the second MORE."""
    first, second = iris(), dict(reversed(iris().items()))
    (folder / "more.csv").write_text(lines_of({n: v[75:] for n, v in second.items()}, ";"))
    (folder / "f.csv").write_text(lines_of({n: v[:75] for n, v in first.items()}))
    return folder / "f.csv"


def arrays(name, **content):
    def make(folder):
        if name.endswith(".npy"):
            np.save(folder / name, content["X"])
        else:
            np.savez(folder / name, **content)
        return folder / name

    return make


def images(folder):
    for shade in range(2):
        (folder / "pictures" / f"s{shade}").mkdir(parents=True)
        for place in range(6):
            pixels = RNG.integers(0, 30, (8, 6)) + 200 * shade
            picture = Image.fromarray(pixels.astype(np.uint8))
            picture.save(folder / "pictures" / f"s{shade}" / f"{place}.png")
    return folder / "pictures"


def sparse_matrix(folder):
    """Two groups of rows that use different columns, as texts on two subjects do."""
    values = np.zeros((40, 60))
    for row in range(40):
        words = RNG.choice(30, 12, replace=False) + 30 * (row % 2)
        values[row, words] = RNG.random(12)
    sparse.save_npz(folder / "f.npz", sparse.csr_array(values))
    return folder / "f.npz"


def moons():
    X, y = make_moons(200, noise=0.06, random_state=0)
    return lines_of({"x": X[:, 0], "y": X[:, 1], "label": y})


def places():
    """Latitude and longitude around five towns."""
    towns = np.array([[48.9, 2.35], [52.5, 13.4], [40.4, -3.7], [41.9, 12.5], [59.3, 18.1]])
    town = np.repeat(np.arange(5), 40)
    X = towns[town] + RNG.normal(0, 0.6, (200, 2))
    return lines_of({"lat": X[:, 0], "lon": X[:, 1], "town": town})


def people():
    """Two groups by age, and incomes that say nothing but have the large numbers."""
    young = np.repeat([True, False], 60)
    ages = np.where(young, 25, 60) + RNG.normal(0, 3, 120)
    children = np.where(young, 0, 3) + RNG.normal(0, 0.4, 120)
    pets = np.where(young, 4, 0) + RNG.normal(0, 0.4, 120)
    cars = np.where(young, 0, 2) + RNG.normal(0, 0.3, 120)
    income = RNG.normal(50_000, 9_000, 120)
    columns = {"age": ages, "children": children, "pets": pets, "cars": cars, "income": income}
    return lines_of({**columns, "group": np.where(young, "young", "old")})


def gaps():
    table = iris()
    for place, name in enumerate(NAMES):
        table[name] = ["" if row % 29 == place else value for row, value in enumerate(table[name])]
    return lines_of(table)


def wine():
    X, y = load_wine(return_X_y=True)
    names = load_wine().feature_names
    return lines_of({**dict(zip(names, X.T.tolist(), strict=True)), "cultivar": y})


def numbers_of_customers():
    return (RNG.permutation(90_000)[:150] + 10_000).tolist()


def customers():
    """Three groups by plan, spending and age, among columns that say nothing."""
    group = RNG.integers(0, 3, 240)
    plan = np.where(RNG.random(240) < 0.9, group, RNG.integers(0, 3, 240))
    spend = np.exp(RNG.normal(np.array([3.0, 4.5, 6.0])[group], 0.4))
    return lines_of(
        {
            "plan": np.array(["basic", "plus", "pro"])[plan],
            "spend": [f"{amount:.2f} €" for amount in spend],
            "age": RNG.normal(np.array([25, 45, 65])[group], 5).round(),
            "discount": [f"{share:.1%}" for share in RNG.normal(0.1 + 0.1 * group, 0.03)],
            "zip": RNG.integers(10_000, 99_999, 240),
            "region": RNG.choice(["north", "south", "west"], 240),
            "segment": np.array(["a", "b", "c"])[group],
        }
    )


def answers():
    """Six questions with four answers each, and two kinds of people."""
    kind = np.repeat([0, 1], 60)
    usual = RNG.integers(0, 4, (2, 6))
    usual[1] = (usual[0] + 1) % 4
    given = np.where(RNG.random((120, 6)) < 0.75, usual[kind], RNG.integers(0, 4, (120, 6)))
    words = np.array(["never", "rarely", "often", "always"])[given]
    return lines_of(
        {**{f"q{j}": words[:, j] for j in range(6)}, "kind": np.array(["a", "b"])[kind]}
    )


def reviews():
    """Texts on three subjects, with words that all of them have."""
    subjects = (["pan", "oven", "knife"], ["sail", "mast", "wind"], ["seed", "soil", "leaf"])
    common = ["nice", "late", "box", "happy"]
    subject = np.arange(90) % 3
    texts = [" ".join([*RNG.choice(subjects[s], 3), *RNG.choice(common, 2)]) for s in subject]
    return lines_of({"stars": RNG.integers(1, 6, 90), "text": texts, "subject": subject})


IRIS_CSV = lines_of(iris())
RECORDS = [
    dict(zip(iris(), map(str, row), strict=True)) for row in zip(*iris().values(), strict=True)
]
COMMAS = lines_of(iris(), ";").replace(".", ",")
QUOTED = IRIS_CSV.replace(",".join(NAMES), ",".join(f'"{name}, cm"' for name in NAMES), 1)
DATES = [f"2024-01-{row % 28 + 1:02}" for row in range(150)]
TRUTH = {f"b{j}": RNG.random(80) < np.repeat([0.1, 0.9], 40) for j in range(9)}
TWICE = {name: [*values, *values] for name, values in iris().items()}


@dataclass(frozen=True)
class Stop:
    """One file: how it is made, what is asked, and what is expected."""

    make: Callable[[Path], Path]
    ask: str
    """The command; DATA is the file."""
    says: tuple[str, ...] = ()
    """Patterns in what is printed, on either stream."""
    accuracy: float | None = None
    """The least accuracy against the known classes."""
    code: int = 0


KMEANS = "cluster DATA -k 3 --labels kind -m kmeans"
POINTS = r"150 points in 3 clusters"

TOUR = {
    "plain csv": Stop(text("f.csv", IRIS_CSV), KMEANS, (POINTS,), 0.88),
    "semicolons and decimal commas": Stop(text("f.csv", COMMAS), KMEANS, (POINTS,), 0.88),
    "quoted names with commas": Stop(text("f.csv", QUOTED), KMEANS, (POINTS,), 0.88),
    "tabs": Stop(text("f.tsv", lines_of(iris(), "\t")), KMEANS, (POINTS,), 0.88),
    "a byte order mark": Stop(text("f.csv", IRIS_CSV, "utf-8-sig"), KMEANS, (POINTS,), 0.88),
    "UTF-16, as Excel saves it": Stop(
        text("f.csv", lines_of(iris(), "\t"), "utf-16"), KMEANS, (POINTS,), 0.88
    ),
    "Latin-1": Stop(
        text("f.csv", IRIS_CSV.replace("setosa", "sétosa"), "latin-1"),
        KMEANS,
        (r"error: .*line 2 is not UTF-8 text; name its encoding, .*--encoding 'latin-1'",),
        code=1,
    ),
    "Latin-1, as advised": Stop(
        text("f.csv", IRIS_CSV.replace("setosa", "sétosa"), "latin-1"),
        f"{KMEANS} --encoding latin-1",
        (POINTS,),
        0.88,
    ),
    "gzip": Stop(raw("f.csv.gz", gzip.compress(IRIS_CSV.encode())), KMEANS, (POINTS,), 0.88),
    "parquet": Stop(parquet, KMEANS, (POINTS,), 0.88),
    "a spreadsheet": Stop(
        spreadsheet, KMEANS, (POINTS, "sheet flowers is read, not notes; --variable"), 0.88
    ),
    "no header": Stop(
        text("f.csv", lines_of(iris(), header=False)),
        "cluster DATA -k 3 --labels 4 -m kmeans",
        (POINTS, "no header: columns are called 0 to 4"),
        0.88,
    ),
    "numbers of customers": Stop(
        text("f.csv", lines_of(iris(customer=numbers_of_customers()))),
        KMEANS,
        (POINTS, "column customer set aside: identifier"),
        0.88,
    ),
    "numbers of customers, to be kept": Stop(
        text("f.csv", lines_of(iris(customer_id=numbers_of_customers()))),
        f"{KMEANS} --keep-ids",
        (r"column customer_id outweighs others: --scale standard",),
    ),
    "latitude and longitude": Stop(
        text("f.csv", places()), "cluster DATA -k 5 --labels town", ("by sc",), 0.98
    ),
    "two moons": Stop(text("f.csv", moons()), "cluster DATA -k 2 --labels label", ("by sc",), 0.98),
    "two moons, before": Stop(
        text("f.csv", moons()),
        "info DATA --labels label",
        ("directions say little", "clustered by sc", "Fit for clustering: yes"),
    ),
    "constant columns": Stop(
        text("f.csv", lines_of({"one": ["1"] * 150, **iris()})),
        "info DATA --labels kind",
        (r"constant columns: +1 \(one\)",),
    ),
    "missing values": Stop(
        text("f.csv", gaps()),
        KMEANS,
        (r"error: .*rows have missing or infinite values: .*--drop-missing.*--impute median",),
        code=1,
    ),
    "missing values, filled in": Stop(
        text("f.csv", gaps()),
        f"{KMEANS} --impute knn",
        (r"note: 24 missing values in 24 of 150 rows filled in from the five rows", POINTS),
        0.85,
    ),
    "missing values, dropped": Stop(
        text("f.csv", gaps()),
        f"{KMEANS} --drop-missing",
        (r"note: 24 of 150 rows .*were dropped", "126 points"),
        0.85,
    ),
    "a word among numbers": Stop(
        text("f.csv", IRIS_CSV.replace("4.9,3.0,1.4", "4.9,three,1.4", 1)),
        KMEANS,
        (r"error: .*column sepal width, row 1 \(counted from 0\): 'three' is not a number",),
        code=1,
    ),
    "dates and remarks": Stop(
        text("f.csv", lines_of(iris(day=DATES, remark=["fine"] * 150))),
        f"{KMEANS} --treat day=ignore",
        ("column day set aside: as you asked", "column remark set aside: the same", POINTS),
        0.88,
    ),
    "customers": Stop(
        text("f.csv", customers()),
        "cluster DATA -k 3 --labels segment",
        (
            "column zip set aside: a code, not a quantity",
            r"used as categories: plan \(3 values\), region \(3 values\)",
            r"read as numbers: spend \(decimal point\), discount",
        ),
        0.95,
    ),
    "customers, before": Stop(
        text("f.csv", customers()),
        "info DATA --labels segment --treat zip=category",
        (r"columns: .*, made of 3 categories, 3 numbers", "each column of the file has"),
    ),
    "answers of a survey": Stop(
        text("f.csv", answers()), "cluster DATA -k 2 --labels kind -m kmeans", ("120 points",), 0.9
    ),
    "reviews": Stop(
        text("f.csv", reviews()),
        "cluster DATA -k 3 --labels subject --text text -m kmeans",
        ("column stars set aside: only text is used", r"cluster 0, \d+ points: '\w+', '\w+'"),
        0.95,
    ),
    "json": Stop(raw("f.json", json.dumps(RECORDS).encode()), KMEANS, (POINTS,), 0.88),
    "json lines": Stop(
        text("f.jsonl", "\n".join(map(json.dumps, RECORDS))), KMEANS, (POINTS,), 0.88
    ),
    "a title above the names": Stop(
        text("f.csv", f"Flowers of 1936\n\n{IRIS_CSV}"),
        f"{KMEANS} --skip-rows 1",
        (POINTS,),
        0.88,
    ),
    "a title above the names, found": Stop(
        text("f.csv", f"Flowers of 1936\nby Fisher\n\n{IRIS_CSV}"),
        KMEANS,
        (POINTS, "3 lines above the table left out: 'Flowers of 1936'"),
        0.88,
    ),
    "two files as one": Stop(
        two_files,
        KMEANS.replace("DATA", "DATA MORE"),
        (POINTS,),
        0.88,
    ),
    "a cover sheet": Stop(
        cover_sheet,
        "cluster DATA -k 3 -m kmeans",
        (r"error: .*sheet cover is read, not flowers; --variable names another",),
        code=1,
    ),
    "a range of numbers": Stop(
        text("f.csv", places()), "cluster DATA -k 4-6", (r"Of 4 to 6 clusters: .*5 clusters",)
    ),
    "a range that is none": Stop(
        text("f.csv", IRIS_CSV), "cluster DATA -k 6-3", ("'6-3' is neither a number",), code=2
    ),
    "an encoder that is not there": Stop(
        text("f.csv", reviews()),
        "cluster DATA -k 3 --text text --encoder nowhere",
        (r"error: --encoder nowhere: no such model is on this machine, and none is downloaded",),
        code=1,
    ),
    "embeddings": Stop(
        embeddings, "cluster DATA -k 2 -m knn", (r"used as vectors: e \(16 numbers\)", "60 points")
    ),
    "an option for images": Stop(
        text("f.csv", IRIS_CSV),
        f"{KMEANS} --image-size 8x8",
        (r"error: .*--image-size is for images, and .*f\.csv holds none",),
        code=2,
    ),
    "a treatment that is none": Stop(
        text("f.csv", IRIS_CSV),
        f"{KMEANS} --treat kind=colour",
        (r"error: .*'kind=colour' is not a column and what to treat it as.*number, category",),
        code=2,
    ),
    "every row twice": Stop(
        text("f.csv", lines_of(TWICE)),
        "cluster DATA -k 3 --labels kind -m l1",
        ("300 points in 3 clusters",),
        0.6,
    ),
    "one column": Stop(
        text("f.csv", "a\n" + "".join(f"{value}\n" for value in IRIS[:, 2])),
        "info DATA",
        (r"columns: +1: .*two or more are needed", "Fit for clustering: not yet, see columns"),
    ),
    "yes and no": Stop(
        text("f.csv", lines_of({**TRUTH, "kind": np.repeat(["a", "b"], 40)})),
        "cluster DATA -k 2 --labels kind -m kmeans",
        ("80 points in 2 clusters",),
        0.95,
    ),
    "incomes beside ages": Stop(
        text("f.csv", people()),
        "cluster DATA -k 2 --labels group -m srsg --scale auto",
        ("columns have different units and are standardised", "constant coordinate"),
        0.95,
    ),
    "incomes beside ages, unscaled": Stop(
        text("f.csv", people()),
        "cluster DATA -k 2 --labels group -m kmeans",
        ("column income outweighs others: --scale standard",),
    ),
    "wine": Stop(
        text("f.csv", wine()), "cluster DATA -k 3 --labels cultivar", ("standardised",), 0.95
    ),
    "npy": Stop(
        arrays("f.npy", X=IRIS), "cluster DATA -k 3 -m kmeans --json", (r'"n_points": 150',)
    ),
    "npz": Stop(arrays("f.npz", X=IRIS, y=KINDS), "cluster DATA -k 3 -m kmeans", (POINTS,), 0.88),
    "a sparse matrix": Stop(
        sparse_matrix, "cluster DATA -k 2 -m l1 --json", (r'"n_points": 40', r'"n_clusters": 2')
    ),
    "a sparse matrix, before": Stop(
        sparse_matrix, "info DATA", ("sparse matrix: .* non-zeros", "Fit for clustering: yes")
    ),
    "a folder of images": Stop(
        images, "cluster DATA -k 2 -m kmeans", ("12 points in 2 clusters of 6 points each",), 1.0
    ),
    "an empty file": Stop(raw("f.csv", b""), KMEANS, (r"error: .*f\.csv: is empty\.",), code=1),
    "a file that was cut": Stop(
        cut_parquet, KMEANS, (r"error: .*cut\.parquet: cannot be read as Parquet",), code=1
    ),
    "a line that was cut": Stop(
        text("f.csv", IRIS_CSV[: IRIS_CSV.rindex(",")]),
        KMEANS,
        (r"error: .*line 151 has 4 fields instead of 5",),
        code=1,
    ),
    "binary rubbish": Stop(
        raw("f.csv", bytes(range(256)) * 9),
        KMEANS,
        (r"error: .*it is binary, not text",),
        code=1,
    ),
    "a typing error": Stop(
        text("f.csv", IRIS_CSV),
        "clutser DATA",
        (r"error: No such command 'clutser'\. Did you mean 'cluster'\? See",),
        code=2,
    ),
}


IN_A_PROCESS = {
    *("plain csv", "Latin-1", "a spreadsheet", "npy", "a folder of images", "two moons, before"),
    *("an empty file", "a typing error"),
}


@pytest.mark.filterwarnings("default")  # the command shows warnings, and goes on
@pytest.mark.parametrize("name", TOUR)
def test_a_file_gets_what_a_person_expects(tmp_path, name):
    stop = TOUR[name]
    path = stop.make(tmp_path)
    files = {"DATA": str(path), "MORE": str(path.with_name("more.csv"))}
    words = [files.get(word, word) for word in stop.ask.split()]
    if name in IN_A_PROCESS:
        done = subprocess.run([*command(), *words], capture_output=True, text=True, cwd=tmp_path)
        code = done.returncode
    else:
        done = run(*words)
        code = done.exit_code
    printed = done.stdout + done.stderr
    assert code == stop.code, printed
    assert "Traceback" not in printed
    for pattern in stop.says:
        assert re.search(pattern, printed), printed
    if stop.code:
        assert done.stdout == ""
        assert len([line for line in done.stderr.splitlines() if "error:" in line]) == 1
    if stop.accuracy is not None:
        found = float(re.search(r"AC ([\d.]+)", done.stderr)[1])
        assert found >= stop.accuracy, printed


def test_a_table_goes_out_with_its_clusters_and_comes_back(tmp_path):
    """Cluster, append, keep the model, predict other rows with gaps: what people do next."""

    def srsg(*words):
        done = subprocess.run(
            [*command(), *map(str, words)], capture_output=True, text=True, cwd=tmp_path
        )
        assert done.returncode == 0, done.stderr
        return done

    table = iris(remark=["=1+1", *["fine"] * 149])
    (tmp_path / "f.csv").write_text(lines_of(table))
    wanted = ("-k", 3, "-m", "l1", "--labels", "kind", "--scale", "standard", "--impute", "median")
    srsg("cluster", "f.csv", *wanted, "--append", "-o", "out.json", "--model", "m.srsg")
    rows = json.loads((tmp_path / "out.json").read_text())
    assert list(rows[0]) == ["remark", *NAMES, "kind", "cluster", "confidence"]
    assert [row["kind"] for row in rows] == list(WORDS)
    (tmp_path / "new.csv").write_text(gaps().replace("kind", "truth", 1))
    done = srsg("predict", "m.srsg", "new.csv", "--labels", "truth", "--append", "-o", "p.csv.gz")
    assert (
        "24 missing values in 24 of 150 rows filled in as when the model was fitted" in done.stderr
    )
    with gzip.open(tmp_path / "p.csv.gz", "rt") as file:
        lines = file.read().splitlines()
    assert lines[0].endswith(",truth,cluster,confidence")
    clusters = [int(line.split(",")[-2]) for line in lines[1:]]
    same = np.mean([cluster == row["cluster"] for cluster, row in zip(clusters, rows, strict=True)])
    assert same > 0.9
