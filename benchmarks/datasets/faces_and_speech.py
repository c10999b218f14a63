"""Faces in changing light, faces from the side, and spoken letters."""

from benchmarks.datasets import of_the_paper

WHOLE_FIT = ("product", "codes", "sweeps", "clusters")

DATASETS = [
    of_the_paper("Yale-B", WHOLE_FIT, peers=False),
    of_the_paper("UMIST", WHOLE_FIT, file="UMIST Face", peers=False),
    of_the_paper("Isolet", WHOLE_FIT, peers=False),
]
