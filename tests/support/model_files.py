"""Model files as somebody who means harm would write them, past ``save_model``."""

from __future__ import annotations

import json

import numpy as np

from srsg.running.store import read_arrays, write_arrays


def model_parts(path):
    """The header and the arrays of a model file."""
    arrays = read_arrays(path)
    return json.loads(arrays.pop("header").item()), arrays


def craft(path, arrays=None, **header):
    """Change arrays and values of the header in place; None takes an array away."""
    head, kept = model_parts(path)
    kept |= arrays or {}
    kept = {name: np.asarray(value) for name, value in kept.items() if value is not None}
    write_arrays(path, {"header": np.array(json.dumps(head | header)), **kept})
