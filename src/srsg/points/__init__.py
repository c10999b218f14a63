"""The points: samples scaled to unit length, which of them are equal, and blocks of them."""

from srsg.points.equal import (
    EqualPoints,
    row_digests,
    take_rows,
    zero_digest,
)
from srsg.points.sparse import UnitRows, dense_rows
from srsg.points.unit import (
    BLOCK_SIZE,
    KernelRows,
    Points,
    Queries,
    Rows,
    blocks_of_rows,
    check_zero_rows,
    float_type,
    is_memory_mapped,
    kernel_rows,
    name_rows,
    root_mean_square_length,
    row_slices,
    stored,
    unique_indices,
    unit_points,
    unit_rows,
)

__all__ = [
    "BLOCK_SIZE",
    "EqualPoints",
    "KernelRows",
    "Points",
    "Queries",
    "Rows",
    "UnitRows",
    "blocks_of_rows",
    "check_zero_rows",
    "dense_rows",
    "float_type",
    "is_memory_mapped",
    "kernel_rows",
    "name_rows",
    "root_mean_square_length",
    "row_digests",
    "row_slices",
    "stored",
    "take_rows",
    "unique_indices",
    "unit_points",
    "unit_rows",
    "zero_digest",
]
