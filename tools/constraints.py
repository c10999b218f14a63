"""``python -m tools.constraints > constraints.txt``: the versions that the tests ran with.

pyproject.toml has no upper bounds: those of a library would keep its users from newer versions of
what they have, though most of these work. Whoever wants what was tested installs with
``pip install -c constraints.txt "srsg[all]"``.
"""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXTRAS = ("approximate", "cli", "files", "data", "plot", "dask")


def bounds() -> dict[str, str]:
    """The lower bound of each dependency of the package and of its extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    stated = [*project["dependencies"]]
    for extra in EXTRAS:
        stated += project["optional-dependencies"][extra]
    return dict(re.sub(r"\[.*\]", "", each).split(">=") for each in stated)


def main() -> None:
    for name in sorted(bounds()):
        print(f"{name}=={version(name)}")


if __name__ == "__main__":
    main()
