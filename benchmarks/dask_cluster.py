"""A Dask cluster on this machine: speed, network, memory, and what that means for more points.

    python benchmarks/dask_cluster.py [--points 20000] [--features 200] [--runs 3] [--write FILE]
    python benchmarks/dask_cluster.py --same [--data DIR]
    python benchmarks/dask_cluster.py --graphs [--points 20000] [--features 64]

Workers are processes on loopback with one thread each. Prints how much faster two of them are than
one, with points of more features too; what they sent each other compared with the cost model; and
the peak memory of the client and the workers on points that take more than a worker's limit.
``--write`` puts the tables, with the costs of more points that follow from them, into a Markdown
file. ``--same`` compares instead everything that ``SRSG.fit`` learns with what threads learn, bit
for bit, in three chunkings. ``--graphs`` measures other graphs too, by processor time: on a machine
that others use, the longest way through client and workers says more than the clock. It checks the
cost model at a second size, and fits over candidates within a limit of memory below the points.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dask
import numpy as np
from distributed import Client, LocalCluster
from sklearn.base import clone

from srsg import SRSG, L1Graph, NeighborGraph, RidgeGraph, config_context
from srsg.cli.comparison import peak_megabytes
from srsg.running.dask.engine import DaskEngine
from srsg.running.dask.files import read_array

NO_FRILLS = {"threads_per_worker": 1, "processes": True, "dashboard_address": "127.0.0.1:0"}
LIMIT = 1_500_000_000
WIDE = 1000
QUIET = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
}
"""Dask watches itself all the time. Where client, scheduler and workers share two cores, that is
a tenth of them, which two workers lack and one does not."""


@contextmanager
def workers(count: int, memory_limit: int | None = None) -> Iterator[Client]:
    """A cluster that spills nothing and ends workers beyond their limit; fits run on it."""
    kept = {f"distributed.worker.memory.{what}": False for what in ("target", "spill", "pause")}
    options = {**NO_FRILLS, "n_workers": count, "memory_limit": memory_limit}
    with (
        dask.config.set(QUIET | kept),
        LocalCluster(**options) as cluster,
        Client(cluster) as client,
        config_context(engine=client),
    ):
        yield client


def subspaces(n_points: int, n_features: int, n_classes: int = 50, rank: int = 6) -> np.ndarray:
    """Noisy points of random subspaces, in random order."""
    rng = np.random.default_rng(0)
    bases = rng.standard_normal((n_classes, rank, n_features))
    which = rng.integers(0, n_classes, n_points)
    weights = rng.standard_normal((n_points, rank))
    x = np.stack([weight @ bases[each] for weight, each in zip(weights, which, strict=True)])
    return x + 0.3 * rng.standard_normal(x.shape)


@dataclass
class Counts:
    """What the client submitted: the quantities of the cost model."""

    blocks: list[tuple[int, int, int, int]] = field(default_factory=list)

    @contextmanager
    def watching(self) -> Iterator[None]:
        submit = DaskEngine._submit_start

        def watched(engine: Any, task: Any, points: Any, block: Any, **options: Any) -> Any:
            sets = getattr(block, "sets", None)
            if sets is not None:
                n_shards = len(points.starts) - 1
                width = sets.codes.index.shape[1]
                self.blocks.append((len(sets), len(task.rows(block)), width, n_shards))
            return submit(engine, task, points, block, **options)

        DaskEngine._submit_start = watched  # type: ignore[method-assign]
        try:
            yield
        finally:
            DaskEngine._submit_start = submit  # type: ignore[method-assign]

    def model_bytes(self, n_features: int, n_workers: int) -> float:
        """What workers send, by the model of the guide."""
        away = 1 - 1 / n_workers
        total = 0.0
        for n_rows, n_needed, width, n_shards in self.blocks:
            row = 8 * n_features
            most = max(16, width // 2)
            total += away * n_needed * row  # rows to where the block begins
            total += (n_workers - 1) * n_rows * (row + 24 * width + 56)  # the block to all others
            total += away * n_shards * n_rows * (16 * (most + 5) + 24)  # answers
            total += n_rows * 24 * (width + most)  # working sets back to the client
        return total


def sent(client: Client) -> int:
    return sum(client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total).values())


Times = dict[type, dict[int, list[float]]]


def speed(path: Path, methods: Sequence[type], runs: int) -> tuple[Times, dict[str, float]]:
    """Seconds for graphs of all points on one and on two workers; those of coding by task."""
    times: Times = {method: {1: [], 2: []} for method in methods}
    tasks: dict[str, float] = {}
    for count in (1, 2) * runs:
        with workers(count) as client:
            array, _ = read_array(path, client)
            few = array[:500].rechunk((500 // count, -1))
            methods[-1]().fit_graph(few)  # kernels from the cache
            for method, seconds in times.items():
                before = seconds_by_task(client)
                start = time.perf_counter()
                method().fit_graph(array)
                seconds[count].append(time.perf_counter() - start)
                if method is L1Graph and count == 1:
                    after = seconds_by_task(client)
                    tasks = {name: after[name] - before.get(name, 0.0) for name in after}
    return times, tasks


def ratio(name: str, seconds: dict[int, list[float]]) -> tuple[object, ...]:
    """A row of the table: medians, their ratio, and the least and the most of it by rounds."""
    one, two = (float(np.median(seconds[count])) for count in (1, 2))
    rounds = np.divide(seconds[1], seconds[2])
    spread = f"{one / two:.2f} ({rounds.min():.2f} to {rounds.max():.2f})"
    return name, f"{one:.1f} s", f"{two:.1f} s", spread


def seconds_by_task(client: Client) -> dict[str, float]:
    prefixes = client.cluster.scheduler.task_prefixes
    return {name: each.all_durations.get("compute", 0.0) for name, each in prefixes.items()}


def network(path: Path) -> tuple[float, float, list[tuple[int, int, int, int]], float]:
    """Bytes per point on two workers: measured, by the model, the blocks, and with the sweeps."""
    counts = Counts()
    with workers(2) as client:
        array, _ = read_array(path, client)
        start = sent(client)
        with counts.watching():
            L1Graph().fit_graph(array)
        codes = sent(client) - start
        start = sent(client)
        SRSG().fit_graph(array)
        both = sent(client) - start
    n_points, n_features = array.shape
    model = counts.model_bytes(n_features, 2)
    return codes / n_points, model / n_points, counts.blocks, both / n_points


def peak_memory(reset: bool = False) -> int:
    """Most bytes of this process, from now on if reset: not what it took over or held before."""
    return int((peak_megabytes(reset=reset) or 0) * 2**20)


def pairs(n_points: int, n_features: int, block_info: Any = None) -> np.ndarray:
    """Points of which two are always alike, made where they are needed."""
    place = block_info[None]["array-location"][0][0] if block_info else 0
    rng = np.random.default_rng(place)
    one = rng.standard_normal((n_points // 2, n_features), dtype=np.float32)
    other = one + 0.1 * rng.standard_normal(one.shape, dtype=np.float32)
    return np.stack([one, other], axis=1).reshape(n_points, n_features)


def memory() -> tuple[int, int, int]:
    """Bytes of points beyond the limit of a worker; peaks of the client and of a worker."""
    import dask.array as da

    rows, width = 252, 50_000  # few points of many features: as many bytes, less work
    shape = {"chunks": ((rows,) * 32, (width,)), "dtype": np.float32}
    big = da.map_blocks(pairs, rows, width, **shape, meta=np.empty((0, 0), np.float32))
    with workers(2, LIMIT) as client:
        client.run(peak_memory, reset=True)
        before = peak_memory(reset=True)
        model = L1Graph(n_neighbors=1).fit_graph(big)
        assert (model.neighbors_[:, 0] == np.arange(len(big)) ^ 1).all()
        return big.nbytes, peak_memory() - before, max(client.run(peak_memory).values())


def same_bits(name: str, X: np.ndarray, n_clusters: int, **settings: Any) -> None:
    """Fit on threads and on two workers, and compare all that was learnt."""
    settings["random_state"] = 0
    expected = vars(SRSG(n_clusters, **settings).fit(X))
    with workers(2) as client, tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "points.npy", X)
        for rows in (-(-len(X) // 2), len(X) // 3, len(X) // 10 + 7):
            array, _ = read_array(Path(folder) / "points.npy", client)
            chunks = array.rechunk((rows, -1))
            model = SRSG(n_clusters, **settings).fit(chunks)
            for attribute, value in expected.items():
                if attribute.endswith("_") and attribute not in ("graph_", "fit_X_"):
                    found = getattr(model, attribute)
                    if hasattr(value, "nnz"):
                        for part in ("indptr", "indices"):
                            same = np.array_equal(getattr(found, part), getattr(value, part))
                            assert same, f"{attribute}.{part}"
                        value, found = value.data, found.data
                    np.testing.assert_array_equal(found, value, err_msg=attribute)
            print(f"{name}, {len(X)} x {X.shape[1]}, chunks of {rows} rows: the same bits")


def compare(data: str | None, n_points: int, n_features: int) -> None:
    for name, count in (("COIL20", 20), ("UMIST", 20)):
        path = Path(data or "") / f"{name}.npz"
        if path.exists():
            with np.load(path) as file:
                same_bits(name, file["X"].astype(np.float64), count)
    made_up = subspaces(n_points, n_features)
    same_bits("made-up subspaces", made_up, 50)


GRAPHS = {
    "l1 codes": L1Graph(),
    "l1 codes over 100 candidates": L1Graph(n_candidates=100, random_state=0),
    "nearest neighbours": NeighborGraph(),
    "neighbours over 100 candidates": NeighborGraph(n_candidates=100),
    "neighbours by distance": NeighborGraph(metric="euclidean"),
    "ridge codes": RidgeGraph(),
}


def processor_times(client: Client) -> tuple[float, list[float]]:
    """Processor seconds of this process, which has the scheduler too, and of each worker."""
    return time.process_time(), list(client.run(time.process_time).values())


def graphs(path: Path, size: int) -> dict[str, dict[int, tuple[float, list[float]]]]:
    """Processor seconds of every graph of the first points, on one worker and on two."""
    found: dict[str, dict[int, tuple[float, list[float]]]] = {name: {} for name in GRAPHS}
    for count in (1, 2):
        with workers(count) as client:
            array, _ = read_array(path, client)
            rows = array[:size].rechunk((-(-size // count), -1))
            for name, graph in GRAPHS.items():
                clone(graph).fit_graph(array[:1500].rechunk((1500 // count, -1)))  # from the cache
                before, theirs = processor_times(client)
                clone(graph).fit_graph(rows)
                after, now = processor_times(client)
                spent = [end - start for start, end in zip(theirs, now, strict=True)]
                found[name][count] = after - before, spent
                print(size, name, count, found[name][count], flush=True)
    return found


def rows_of_graphs(found: dict[str, dict[int, tuple[float, list[float]]]]) -> list[Any]:
    rows = []
    for name, times in found.items():
        (here, (one,)), (there, two) = times[1], times[2]
        whole, longest = here + one, there + max(two)
        cells = (f"{here:.1f} + {one:.1f} s", f"{there:.1f} + {max(two):.1f} s")
        rows.append((name, *cells, f"{whole / longest:.2f}", f"{one / max(two):.2f}"))
    return rows


def within_memory(path: Path, limit: int) -> tuple[object, ...]:
    """The most memory of workers that may not hold all points, and of the client."""
    with workers(2, limit) as client:
        array, _ = read_array(path, client)
        client.run(peak_memory, reset=True)
        before = peak_memory(reset=True)
        NeighborGraph(n_candidates=50).fit_graph(array)
        peaks = client.run(peak_memory).values()
        return array.nbytes, limit, max(peaks), peak_memory() - before


def table(head: tuple[str, ...], rows: list[tuple[object, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def costs(blocks: list[tuple[int, int, int, int]], tasks: dict[str, float], n: int, d: int) -> str:
    """What the measured costs make of more points of as many features."""
    looks = sum(rows for rows, *_ in blocks) / n  # scans of every point, on average
    a_product = tasks["scan_shard"] / (looks * n * n * d)
    a_point = (tasks["start"] + tasks["take"] + tasks["finish"]) / n
    needed = sum(needed for _, needed, *_ in blocks) / n
    rows = []
    for size, count in ((10**5, 2), (10**5, 16), (10**6, 16), (10**6, 128), (10**7, 1024)):
        work = looks * a_product * size * size * d + a_point * size
        seconds = work / count
        moved = size * 8 * d * (needed + looks * (count - 1))
        shard = 12 * size * d / count
        rows.append(
            (
                f"{size:,}",
                count,
                in_time(seconds),
                f"{moved / count / 1e9:,.1f} GB",
                f"{shard / 1e9:,.2f} GB",
            )
        )
    head = ("points", "workers of one thread", "coding", "sent by each worker", "points on each")
    facts = (
        f"Every point was scanned {looks:.2f} times on average; a scan took "
        f"{a_product * 1e12:.1f} ps for each pair of points and feature, the small problems took "
        f"{a_point * 1e3:.2f} ms per point, and {needed:.1f} rows were fetched for each."
    )
    return facts + "\n\n" + table(head, rows)


def report_of_graphs(n: int, d: int) -> str:
    """Processor times at two sizes, and memory."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "points.npy"
        np.save(path, subspaces(n, d))
        head = ("client + longest worker", "one worker", "two", "ratio", "ratio of workers")
        lines = []
        for size in (n // 2, n):
            lines.append(f"{size:,} points of {d} features, processor time:")
            lines.append(table(head, rows_of_graphs(graphs(path, size))))
        np.save(path, subspaces(4096, 25_000).astype(np.float32))
        nbytes, limit, worker, client = within_memory(path, 380_000_000)
    memory = f"{nbytes / 1e6:.0f} MB of points, limit {limit / 1e6:.0f} MB for each of two workers"
    lines.append(
        f"{memory}: peak of a worker {worker / 1e6:.0f} MB, client + {client / 1e6:.0f} MB"
    )
    return "\n\n".join(lines)


def in_time(seconds: float) -> str:
    for unit, length in (("days", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.1f} {unit}"
    return f"{seconds:.0f} s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=20_000)
    parser.add_argument("--features", type=int, default=200)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--no-memory", action="store_true", help="leave the large points out")
    parser.add_argument("--write", type=Path)
    parser.add_argument("--graphs", action="store_true", help="other graphs, by processor time")
    parser.add_argument("--same", action="store_true", help="compare the results with threads")
    parser.add_argument("--data", default=os.environ.get("SRSG_DATA"))
    options = parser.parse_args()
    n, d = options.points, options.features
    if options.same:
        compare(options.data, n, d)
        return
    if options.graphs:
        print(report_of_graphs(n, d))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "points.npy"
        np.save(path, subspaces(n, d))
        times, tasks = speed(path, (L1Graph, SRSG), options.runs)
        measured, model, blocks, both = network(path)
        np.save(path, subspaces(n, WIDE))
        wide, _ = speed(path, (L1Graph,), options.runs)
    lines = [
        f"{n:,} points of {d} features, median of {options.runs} alternating runs.",
        table(
            ("", "one worker", "two", "ratio (wanted: 1.6)"),
            [
                ratio("l1 codes", times[L1Graph]),
                ratio("l1 codes and sweeps", times[SRSG]),
                ratio(f"l1 codes, {WIDE:,} features", wide[L1Graph]),
            ],
        ),
        table(
            ("sent on the network, per point", "measured", "by the model", "ratio"),
            [
                ("l1 codes", f"{measured:,.0f} B", f"{model:,.0f} B", f"{measured / model:.2f}"),
                ("l1 codes and sweeps", f"{both:,.0f} B", "", ""),
            ],
        ),
    ]
    if not options.no_memory:
        nbytes, client, worker = memory()
        lines.append(
            table(
                ("memory", "bytes"),
                [
                    ("the points", f"{nbytes / 1e9:.2f} GB"),
                    ("limit of each of the two workers", f"{LIMIT / 1e9:.2f} GB"),
                    ("peak of a worker", f"{worker / 1e9:.2f} GB"),
                    ("growth of the client's peak", f"{client / 1e9:.2f} GB"),
                ],
            )
        )
    lines.append(costs(blocks, tasks, n, d))
    text = "\n\n".join(lines) + "\n"
    print(text)
    if options.write:
        note = "Written by `benchmarks/dask_cluster.py`; every figure follows from its run.\n\n"
        options.write.write_text("# Costs on a Dask cluster\n\n" + note + text)


if __name__ == "__main__":
    main()
