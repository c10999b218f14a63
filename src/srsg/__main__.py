"""``python -m srsg``."""

from srsg.cli import main

if __name__ == "__main__":
    main()
