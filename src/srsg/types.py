"""Names for the types that signatures share."""

import os
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

Matrix = ArrayLike | sparse.sparray | sparse.spmatrix
"""Two-dimensional input: arrays, lists, DataFrames, sparse matrices."""

FilePath = str | os.PathLike[str]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

Graph = sparse.csr_array | FloatArray
"""A weighted graph, sparse or dense."""

NClusters = int | Literal["auto"] | tuple[int, int]
"""A number of clusters, or how it is found: any, or the best of a range, both ends included."""

AssignLabels = Literal["kmeans", "discretize", "cluster_qr", "tree"]
Affinity = Literal["agreement", "codes"]
Bridge = float | Literal["auto"] | None
Cut = Literal["normalized", "ratio"]
Direction = Literal["directed", "either", "mutual"]
Stop = Literal["supports", "objective"]
RandomState = int | np.random.RandomState | None
