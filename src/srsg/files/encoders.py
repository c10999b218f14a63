"""Texts as vectors, by models that are on this machine: nothing is ever downloaded."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from srsg.files.contents import Table
from srsg.files.errors import FileError, one_line

OFFLINE = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")


def _wordllama(module: Any, model: str) -> Any:
    # The model that comes with the package is looked for in a wrong folder of it.
    home = Path(module.__file__).parent
    bundled = (home / "tokenizers" / f"{model}_tokenizer_config.json").exists()
    place = {"cache_dir": home} if bundled else {}
    return module.WordLlama.load(model, **place, disable_download=True).embed


LOADERS: dict[str, tuple[str, Callable[[Any, str], Any]]] = {
    "sentence-transformers": (
        "sentence_transformers",
        lambda module, model: module.SentenceTransformer(model, local_files_only=True).encode,
    ),
    "model2vec": (
        "model2vec",
        lambda module, model: module.StaticModel.from_pretrained(model).encode,
    ),
    "wordllama": ("wordllama", _wordllama),
}
"""How each library loads a model and encodes texts; they are tried in this order."""

USUAL = {"wordllama": "l2_supercat"}
"""The model of a library that comes with it."""


def encoded(name: str, texts: Sequence[str]) -> NDArray[np.floating]:
    """One vector per text.

    Parameters
    ----------
    name : str
        A model by its name or folder, such as ``all-MiniLM-L6-v2``. The library may be named
        before it, as in ``model2vec:minishlab/potion-base-8M``; ``wordllama`` alone is the model
        that comes with that package.
    texts : sequence of str
        The texts.

    Raises
    ------
    FileError
        If no library that is installed finds the model on this machine.
    """
    library, _, model = name.partition(":")
    tried = [library] if library in LOADERS else list(LOADERS)
    model = (model or USUAL.get(library, "")) if library in LOADERS else name
    os.environ.update(dict.fromkeys(OFFLINE, "1"))  # before the libraries are loaded
    problems = []
    for each in tried:
        module, load = LOADERS[each]
        try:
            encode = load(import_module(module), model)
        except ModuleNotFoundError:
            problems.append(f"{each} is not installed")
        except Exception as error:  # whatever the library raises for a model that is not there
            problems.append(f"{each}: {one_line(error)[:120]}")
        else:
            return np.asarray(encode(list(texts)))
    raise FileError(
        f"encoder={name}: no such model is on this machine, and none is downloaded "
        f"({'; '.join(problems)})."
    )


def with_vectors(table: Table) -> Table:
    """The table with the vectors of its texts, if they are encoded."""
    (rule,) = table.rules or ()
    if not rule.encoder or table.texts is None:
        return table
    vectors = encoded(rule.encoder, table.texts.tolist())
    rules = (replace(rule, size=vectors.shape[1]),)
    return replace(table, X=vectors, rules=rules, feature_names=rules[0].features)
