"""COIL-100: 7200 pictures of 100 objects."""

from benchmarks.datasets import of_the_paper

DATASETS = [of_the_paper("COIL-100", ("product", "codes", "sweeps", "clusters"))]
