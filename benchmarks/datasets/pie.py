"""CMU PIE: 11,554 pictures of 68 faces."""

from benchmarks.datasets import of_the_paper

DATASETS = [
    of_the_paper("PIE", ("product", "codes", "sweeps", "clusters"), file="CMU PIE", peers=False)
]
