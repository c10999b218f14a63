"""``python -m srsg``, and the ``srsg`` command."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command; Ctrl-C ends it with one line even while the libraries are loading."""
    try:
        from srsg.cli import main as run

        run()
    except KeyboardInterrupt:
        print("error: stopped.", file=sys.stderr)
        sys.exit(130)  # as srsg.cli.console.INTERRUPTED, which may not be loaded yet


if __name__ == "__main__":
    main()
