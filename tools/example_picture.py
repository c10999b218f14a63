"""Runs an example and saves its first picture: ``python -m tools.example_picture SCRIPT PICTURE``.

The picture of README.md is made in this way:
``python -m tools.example_picture examples/plot_affinity.py docs/affinity.png``.
"""

from __future__ import annotations

import runpy
import sys


def main(script: str, picture: str) -> None:
    import matplotlib

    matplotlib.use("agg")  # no window
    runpy.run_path(script, run_name="__main__")

    import matplotlib.pyplot as plt

    plt.figure(plt.get_fignums()[0]).savefig(picture, dpi=100)
    print(f"the picture: {picture}")


if __name__ == "__main__":
    main(*sys.argv[1:])
