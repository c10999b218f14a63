"""Options in groups: a command takes one small object for the options on one subject."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Any, get_type_hints

from srsg.cli import options
from srsg.cli.console import note

if TYPE_CHECKING:
    from srsg.files import Table
    from srsg.running.progress import Progress


def with_groups(command: Callable[..., None], leave_out: Sequence[str] = ()) -> Callable[..., None]:
    """A command whose parameters that are dataclasses become one option for each field.

    Parameters
    ----------
    command : function
        The function to run. Fields of its dataclasses are declared like typer's parameters.
    leave_out : sequence of str
        Fields that are not options of this command; they keep their defaults.
    """
    # typer makes one option of every parameter and knows no groups of them, so it is shown a
    # function with all fields as parameters.
    hints = get_type_hints(command, include_extras=True)
    parameters: list[Parameter] = []
    groups: dict[str, tuple[Any, list[str]]] = {}
    for name, parameter in signature(command).parameters.items():
        kind = hints[name]
        if not is_dataclass(kind):
            parameters.append(parameter.replace(annotation=kind))
            continue
        shown = [each for each in fields(kind) if each.name not in leave_out]
        types = get_type_hints(kind, include_extras=True)
        groups[name] = kind, [each.name for each in shown]
        parameters += [_as_parameter(each, types[each.name]) for each in shown]

    def run(**given: Any) -> None:
        gathered = {
            name: kind(**{field: given.pop(field) for field in names})
            for name, (kind, names) in groups.items()
        }
        command(**given, **gathered)

    run.__name__, run.__doc__, run.__module__ = (
        command.__name__,
        command.__doc__,
        command.__module__,
    )
    # What typer reads instead of the names of `run`.
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    return run


def _as_parameter(field: Field[Any], annotation: Any) -> Parameter:
    default = Parameter.empty if field.default is MISSING else field.default
    return Parameter(field.name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


@dataclass(frozen=True)
class Reading:
    """How DATA is read."""

    labels: options.Labels = None
    drop_missing: options.DropMissing = False
    columns: options.Columns = None
    variable: options.Variable = None
    image_size: options.ImageSize = None
    gray: options.Gray = False
    id: options.IdColumn = None
    keep_ids: options.KeepIds = False
    encoding: options.Encoding = None

    def read(
        self,
        data: str,
        progress: Progress,
        *,
        quiet: bool = False,
        scheduler: str | None = None,
        features: Sequence[str] | None = None,
        keep_missing: bool = False,
        keep_frame: bool = False,
    ) -> Table:
        """Read DATA as the options ask for, and print its notes.

        With a scheduler, its workers will read the points: the table has a dask array. With the
        names of a model's features, the columns of a table are matched with them. Missing values
        stay as NaN, and all columns of a table are kept, if asked for.
        """
        from srsg.files import read_points
        from srsg.files.reading import display_name

        names = options.separated(self.columns)
        height, _, width = (self.image_size or "").partition("x")
        with progress.stage(f"reading {display_name(data)}", 1):
            if scheduler is not None:
                from srsg.running.dask.files import read_table_on

                table = read_table_on(scheduler, data, names, self.variable, self.labels)
            else:
                table = read_points(
                    data,
                    labels=self.labels,
                    drop_missing=self.drop_missing,
                    columns=names,
                    variable=self.variable,
                    image_size=(int(height), int(width)) if self.image_size else None,
                    gray=self.gray,
                    features=features,
                    id_column=self.id,
                    keep_ids=self.keep_ids,
                    encoding=self.encoding,
                    keep_missing=keep_missing,
                    keep_frame=keep_frame,
                )
        for line in () if quiet else table.notes:
            note(line)
        return table
