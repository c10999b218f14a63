"""Options in groups: a command takes one small object for the options on one subject."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, cleandoc, signature
from typing import Any, Literal

from srsg.cli.options import TREATMENTS, parse_columns, parse_size, parse_treatments, reading


def with_groups(command: Callable[..., None], leave_out: Sequence[str] = ()) -> Callable[..., None]:
    """A command with one option for each field of its parameters that are dataclasses.

    Parameters
    ----------
    command : function
        The function to run. Fields of its dataclasses are declared like typer's parameters.
    leave_out : sequence of str
        Fields that are not options of this command; they keep their defaults.
    """
    # typer makes an option of every parameter and has no groups, so it is shown a function whose
    # parameters are all the fields.
    parameters: list[Parameter] = []
    groups: dict[str, Any] = {}
    for name, parameter in signature(command, eval_str=True).parameters.items():
        kind = parameter.annotation
        if not is_dataclass(kind):
            parameters.append(parameter)
            continue
        groups[name] = kind
        options = signature(groups[name], eval_str=True).parameters.values()
        kept = [option for option in options if option.name not in leave_out]
        parameters += [option.replace(kind=parameter.kind) for option in kept]

    @wraps(command)
    def run(**given: Any) -> None:
        for name, kind in groups.items():
            names = [field.name for field in fields(kind) if field.name in given]
            given[name] = kind(**{field: given.pop(field) for field in names})
        command(**given)

    # Each paragraph is one line: rich would keep the line ends of the source.
    run.__doc__ = re.sub(r"(?<!\n)\n(?!\n)", " ", cleandoc(command.__doc__ or ""))
    # What typer reads instead of the parameters of `command`.
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


@dataclass(frozen=True)
class Reading:
    """How DATA is read: arguments of :func:`srsg.files.read_points`."""

    labels: str | None = reading(
        "Known classes: a column or array of DATA, or a file with one per row."
    )
    drop_missing: bool = reading("Drop rows with missing values.", "--drop-missing", default=False)
    columns: Any = reading(
        "Columns of a table to use, separated by commas.",
        metavar="NAMES",
        parser=parse_columns,
        show_default="all but text, codes and identifiers",
    )
    treat: list[str] = reading(
        f"What a column is, whatever it looks like: {', '.join(TREATMENTS)}. May be repeated.",
        default=[],
        metavar="COLUMN=KIND",
        show_default=False,
    )
    text: str | None = reading(
        "The column of texts to cluster by; short for --treat COLUMN=text.", metavar="COLUMN"
    )
    encoder: str | None = reading(
        "A model on this machine that makes vectors of the texts: wordllama, or the name of one of "
        "sentence-transformers or model2vec.",
        metavar="NAME",
        show_default="words, by TF-IDF",
    )
    variable: str | None = reading("The array or sheet to use, in a file with several.")
    image_size: Any = reading("Resize images to this size.", metavar="HxW", parser=parse_size)
    gray: bool = reading("Convert images to gray.", "--gray", default=False)
    id_column: str | None = reading(
        "The column that names the rows.", "--id", metavar="COLUMN", show_default="first identifier"
    )
    keep_ids: bool = reading(
        "Keep numbers that look like identifiers.", "--keep-ids", default=False
    )
    encoding: str | None = reading("Encoding of text files, such as latin-1.", show_default="utf-8")
    skip_rows: int = reading(
        "Lines above the table to leave out, such as a title.", default=0, min=0, metavar="NUMBER"
    )

    def arguments(self) -> dict[str, Any]:
        """The options as arguments."""
        # Not by typer, which makes a list of whatever an option that may be repeated becomes.
        given = vars(self) | {"treat": parse_treatments(self.treat)}
        text = given.pop("text")
        return given if text is None else given | {"treat": given["treat"] | {text: "text"}}


@dataclass(frozen=True)
class Preparing:
    """How columns are prepared: parameters of :class:`srsg.PreparedClusterer`."""

    scale: Literal["none", "standard", "minmax", "auto"] | None = reading(
        "Give columns equal weight: standard (mean 0, deviation 1), minmax (0 to 1), or auto, "
        "which standardises columns of different units.",
        show_default="none; the search for a method tries several",
    )
    impute: Literal["median", "knn"] | None = reading(
        "Fill in missing values by the median of the column, or (knn) from the most similar rows."
    )
