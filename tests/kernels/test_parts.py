"""Helpers are compiled as parts of kernels, and only there."""

from __future__ import annotations

import numpy as np
import pytest

from srsg.kernels.compiled import helper, kernel

parts = pytest.importorskip("srsg.kernels.parts")


@helper()
def room_for(n):
    if n == 7:
        raise ValueError("seven")
    return np.empty(n)


@helper()
def room_for_twice(n):
    return room_for(2 * n)


@kernel(cache=False)
def length(n):
    return room_for_twice(n).shape[0] + room_for(n).shape[0]


def calls_of_helpers(function):
    (compiled,) = function.overloads.values()
    lines = compiled.library.get_llvm_str().splitlines()
    return [line for line in lines if " call " in line and "room_for" in line]


def test_only_kernels_are_optimised():
    assert length(3) == 9
    # The calls within helpers are left as they are; the kernel has all of them inlined.
    assert calls_of_helpers(room_for_twice)
    assert not calls_of_helpers(length)
    for function in (room_for, room_for_twice):
        (compiled,) = function.overloads.values()
        assert isinstance(compiled.library, parts.PartLibrary)


def test_errors_of_helpers_reach_python():
    with pytest.raises(ValueError, match="seven"):
        length(7)
    with pytest.raises(ValueError, match="negative dimensions"):
        length(-1)
