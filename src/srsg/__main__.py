"""``python -m srsg``, and the ``srsg`` command."""

import sys
from collections.abc import Callable


def main() -> None:
    """Run the command; Ctrl-C ends it with one line even while the libraries are loading."""
    try:
        command()()
    except KeyboardInterrupt:
        print("error: stopped.", file=sys.stderr)
        sys.exit(130)  # as srsg.cli.console.INTERRUPTED, which may not be loaded yet


def command() -> Callable[[], None]:
    """The command line; where its libraries are missing, one line says how to get them."""
    try:
        from srsg.cli import main as run
    except ModuleNotFoundError as error:
        library = error.name or ""
        if library.startswith("srsg"):  # a mistake in this package
            raise
        advice = f"the srsg command needs {library}: pip install 'srsg[cli]'."
        raise SystemExit(f"error: {advice}") from error
    return run


if __name__ == "__main__":
    main()
