"""
A plan for a million points on a Dask cluster
=============================================

An exact method compares every point with every other. With a million points that is work for a
cluster, and worth a calculation before it starts. This page makes the plan, and then runs the same
code on a few thousand points and two workers inside this process.
"""

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from distributed import Client

from srsg import SRSG, config_context
from srsg.datasets import make_union_of_subspaces
from srsg.metrics import clustering_accuracy

# %%
# The plan
# --------
# Four numbers describe the work: how often a point is compared with all others, the time for one
# comparison of one feature, the time for the small problems of a point, and the number of rows that
# have to be fetched for it. We measured them with ``benchmarks/dask_cluster.py``
# (``docs/results/dask-costs.md``). On other machines, measure them again.

SCANS = 2.50
SECONDS_PER_PAIR_AND_FEATURE = 38.4e-12
SECONDS_PER_POINT = 0.07e-3
ROWS_FETCHED = 8.5


def plan(n: float, d: int, workers: int) -> tuple[float, float, float]:
    """Hours of coding, gigabytes sent and gigabytes held by each worker of one thread."""
    work = SCANS * SECONDS_PER_PAIR_AND_FEATURE * n * n * d + SECONDS_PER_POINT * n
    sent = 8 * d * n * (ROWS_FETCHED + SCANS * (workers - 1)) / workers
    return work / workers / 3600, sent / 1e9, 12 * n * d / workers / 1e9


print("a million points of 200 features")
print(f"{'workers':>8}{'hours':>8}{'sent by each':>15}{'held by each':>15}")
for workers in (4, 16, 64, 128):
    hours, sent, held = plan(1e6, 200, workers)
    print(f"{workers:>8}{hours:>8.2f}{sent:>12.1f} GB{held:>12.2f} GB")

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
sizes = np.geomspace(1e5, 1e7, 20)
for workers in (16, 128, 1024):
    ax.loglog(sizes, [plan(n, 200, workers)[0] for n in sizes], label=f"{workers} workers")
ax.axhline(1, color="0.7", linewidth=1)
ax.text(1.1e5, 1.15, "one hour", color="0.4")
ax.set(xlabel="points of 200 features", ylabel="hours of coding", title="What exact codes cost")
ax.legend(frameon=False)

# %%
# Twice as many points take four times as long. If that is too long for you, ``n_candidates=200``
# compares every point with so many candidates only, on one machine.
#
# The same code on a small cluster
# --------------------------------
# The setting ``engine`` takes the client of any Dask cluster. This one runs in two threads of this
# process, while yours has an address. The chunks are along the rows.

X, y = make_union_of_subspaces(
    3000, n_subspaces=10, dimension=4, n_features=50, noise=0.03, random_state=0
)
local = {"n_workers": 2, "threads_per_worker": 1, "processes": False}
with Client(**local, dashboard_address="127.0.0.1:0") as client:
    points = da.from_array(X, chunks=(750, -1))
    with config_context(engine=client):
        on_cluster = SRSG(n_clusters=10, random_state=0).fit(points)
print(f"accuracy {clustering_accuracy(y, on_cluster.labels_):.3f}")

# %%
# The result is the same as on one machine, to the last bit.

here = SRSG(n_clusters=10, random_state=0).fit(X)
print("same codes:", (here.codes_ != on_cluster.codes_).nnz == 0)
print("same labels:", bool((here.labels_ == on_cluster.labels_).all()))
