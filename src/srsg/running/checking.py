"""Arrays that come from a file: names, types, shapes and ranges are checked before they are used.

Anyone can write a file, and compiled loops read indices without checking bounds. So every array of
a saved model or a kept result has a rule, and arrays that break their rule are refused.
"""

import operator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

CSR_PARTS = ("data", "indices", "indptr")
"""The arrays of a CSR matrix."""

KINDS = {"float": (np.float32, np.float64), "int": (np.int32, np.int64), "bool": (np.bool_,)}
"""Types of arrays, in the byte order of this machine: kernels take no others."""


class InvalidArrayError(ValueError):
    """An array that breaks its rule; the message starts with its name."""


@dataclass(frozen=True)
class Rule:
    """What an array must be.

    Attributes
    ----------
    kind : {"float", "int", "bool"}
        Floats must be finite.
    shape : tuple of int, str or None
        The size of each dimension: a number, the name of a size, or None for any. A named size that
        is not given is that of the first array that has it.
    least, most : number or name of a size
        The range of the values, both ends included.
    below : number or name of a size
        An upper end that is not included, for indices.
    or_number : bool
        Whether a number may take the place of the array.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.running.checking import Rule, check_arrays
    >>> rules = {"neighbors": Rule("int", ("n", None), least=0, below="n")}
    >>> check_arrays({"neighbors": np.array([[1], [0]])}, rules, {"n": 2})
    >>> check_arrays({"neighbors": np.array([[1], [2]])}, rules, {"n": 2})
    Traceback (most recent call last):
    ...
    srsg.running.checking.InvalidArrayError: neighbors: has values of 2 or more
    """

    kind: str
    shape: tuple[int | str | None, ...] = ()
    least: float | str | None = None
    most: float | str | None = None
    below: float | str | None = None
    or_number: bool = False


def check_arrays(
    arrays: Mapping[str, Any], rules: Mapping[str, Rule], sizes: Mapping[str, int]
) -> None:
    """Refuse arrays without a rule, rules without an array, and arrays that break their rules.

    Raises
    ------
    InvalidArrayError
    """
    for name in arrays:
        require(name in rules, name, "is not expected here")
    sizes = dict(sizes)
    for name, rule in rules.items():
        require(name in arrays, name, "is missing")
        _check(name, arrays[name], rule, sizes)


def _check(name: str, value: Any, rule: Rule, sizes: dict[str, int]) -> None:
    require(isinstance(value, np.ndarray), name, f"is a {type(value).__name__}, not an array")
    require(value.dtype in KINDS[rule.kind], name, f"has type {value.dtype}")
    words = f"has shape {value.shape}"
    shape = () if rule.or_number and value.ndim == 0 else rule.shape
    require(value.ndim == len(shape), name, words)
    for length, wanted in zip(value.shape, shape, strict=True):
        size = sizes.setdefault(wanted, length) if isinstance(wanted, str) else wanted
        require(size in (None, length), name, words)
    if rule.kind == "float":
        require(bool(np.isfinite(value).all()), name, "has values that are not finite")
    if not value.size:
        return

    for end, farthest, holds, words in (
        (rule.least, value.min(), operator.ge, "below {:g}"),
        (rule.most, value.max(), operator.le, "above {:g}"),
        (rule.below, value.max(), operator.lt, "of {:g} or more"),
    ):
        if end is not None:
            number = sizes[end] if isinstance(end, str) else end
            require(holds(farthest, number), name, f"has values {words.format(number)}")


def rules_of_csr(name: str, columns: str = "n") -> dict[str, Rule]:
    """Rules for the arrays of a CSR matrix; :func:`checked_csr` checks how they fit together.

    ``columns`` names the size that is their number.
    """
    entries = f"{name} entries"
    return {
        f"{name}/data": Rule("float", (entries,)),
        f"{name}/indices": Rule("int", (entries,), least=0, below=columns),
        f"{name}/indptr": Rule("int", (None,), least=0, most=entries),
    }


def checked_csr(name: str, arrays: Mapping[str, Any], shape: tuple[int, int]) -> Any:
    """A CSR matrix made of arrays that keep its rules; refused if they do not fit together.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.running.checking import checked_csr
    >>> arrays = {"z/data": np.ones(1), "z/indices": np.array([1]), "z/indptr": np.array([0, 1, 1])}
    >>> checked_csr("z", arrays, (2, 2)).toarray()
    array([[0., 1.],
           [0., 0.]])
    """
    data, indices, indptr = (arrays[f"{name}/{part}"] for part in CSR_PARTS)
    require(len(indptr) == shape[0] + 1, f"{name}/indptr", f"has shape {indptr.shape}")
    rising = indptr[0] == 0 and indptr[-1] == len(data) and (np.diff(indptr) >= 0).all()
    require(rising, name, "has rows that overlap")
    matrix = sparse.csr_array((data, indices, indptr), shape=shape)
    require(matrix.has_canonical_format, name, "has rows that are not sorted")
    return matrix


def csr_arrays(name: str, matrix: sparse.csr_array) -> dict[str, NDArray]:
    """The arrays of a CSR matrix, by names that :func:`rules_of_csr` has rules for."""
    return {f"{name}/{part}": getattr(matrix, part) for part in CSR_PARTS}


def require(holds: Any, name: str, problem: str) -> None:
    """Raise an :class:`InvalidArrayError` unless the condition holds."""
    if not holds:
        raise InvalidArrayError(f"{name}: {problem}")
