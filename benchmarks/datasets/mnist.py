"""MNIST: the first 10,000 handwritten digits, whose codes are long."""

from benchmarks.datasets import of_the_paper

DATASETS = [
    of_the_paper(
        "MNIST-10k",
        ("product", "codes", "sweeps", "clusters"),
        file="MNIST",
        first=10_000,
    )
]
