"""The dialect of a table in a text file, detected from the first two lines."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from itertools import islice

from srsg.files.labels import is_number

SEPARATORS = ",;\t|"


@dataclass(frozen=True)
class Dialect:
    """The separator, the decimal point, whether there is a header, and whether lines end with an
    extra separator."""

    sep: str
    decimal: str
    has_header: bool
    ends_with_sep: bool


def dialect_of(text: str, sep: str | None = None) -> Dialect:
    """The dialect of a table in text; ``sep`` if it is known.

    Examples
    --------
    >>> from srsg.files.dialects import dialect_of
    >>> dialect_of("length;kind\\n1,5;rose\\n")
    Dialect(sep=';', decimal=',', has_header=True, ends_with_sep=False)
    """
    lines = list(islice((line for line in io.StringIO(text) if line.strip()), 2))
    first = lines[0].rstrip("\r\n") if lines else ""
    sep = sep or _separator(first)
    # A decimal comma is possible only with semicolons. The first numbers may all be whole.
    commas = sep == ";" and (
        any(re.search(r"\d,\d", line) for line in lines)
        or (re.search(r";\d+,\d+\s*[;\n]", text) is not None and "." not in text)
    )
    top, second = ([*csv.reader(lines, delimiter=sep), [], []])[:2]
    header = is_header(top, second)
    return Dialect(
        sep=sep,
        decimal="," if commas else ".",
        has_header=header,
        # If rows have one field more than there are names, the first is the name of the row,
        # unless the last one is empty.
        ends_with_sep=header and len(second) == len(top) + 1 and second[-1] == "",
    )


def _separator(line: str) -> str:
    if ";" in line and all(map(is_number, line.split(";"))):  # with commas in its numbers
        return ";"
    # Quoted names may contain any of the separators.
    outside_quotes = re.sub(r'"[^"]*"', "", line)
    return max(SEPARATORS, key=outside_quotes.count)


def stated_separator(text: str) -> tuple[str | None, str]:
    """The separator that a first line such as ``sep=;`` names for Excel, and the text without it.

    A blank line stays in its place, so that messages count lines as the file does.

    Examples
    --------
    >>> from srsg.files.dialects import stated_separator
    >>> stated_separator("sep=;\\na;b\\n")
    (';', '\\na;b\\n')
    >>> stated_separator("a;b\\n")
    (None, 'a;b\\n')
    """
    found = re.match(rf"sep=([{SEPARATORS}])\r?(?=\n)", text, re.IGNORECASE)
    return (found[1], text[found.end() :]) if found else (None, text)


def is_header(first: list[str], second: list[str]) -> bool:
    """Whether a line consists of names: it has words only, or a word above a number.

    A line of numbers is data, except 0, 1, 2, ..., which pandas writes if columns have no names.
    """
    names = first[1:] if first[:1] == [""] else first
    if len(names) > 1 and names == [str(place) for place in range(len(names))]:
        return True
    words = [bool(field.strip()) and not is_number(field) for field in first]
    above_number = any(
        word and is_number(below) for word, below in zip(words, second, strict=False)
    )
    return all(words) or above_number
