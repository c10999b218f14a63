"""What is known of each data set: its size, its names, where it comes from."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """One data set.

    Attributes
    ----------
    name : str
        As the paper writes it.
    stems : tuple of str
        File names without ending under which it is looked for, the usual one first.
    n_samples, n_features, n_classes : int or None
        Its size as the paper uses it; None where the paper does not say.
    image_shape : tuple or None
        Height and width of one sample.
    source : str
        Its home.
    obtain : str
        What to do to have it, one sentence.

    Examples
    --------
    >>> from srsg.datasets import find_entry
    >>> entry = find_entry("coil20")
    >>> entry.name, entry.n_samples, entry.n_classes
    ('COIL-20', 1440, 20)
    """

    name: str
    stems: tuple[str, ...]
    n_samples: int | None
    n_features: int | None
    n_classes: int | None
    source: str
    obtain: str
    image_shape: tuple[int, int] | None = None


_MULTI_PIE = "https://www.cs.cmu.edu/afs/cs/project/PIE/MultiPie/Multi-Pie/Home.html"
_FETCH = "Run srsg.datasets.fetch_dataset({0!r})."


def _multi_pie(session: int) -> Entry:
    return Entry(
        f"Multi-PIE S{session}",
        (f"MultiPIE_S{session}", f"MPIE_S{session}"),
        None,
        None,
        None,
        _MULTI_PIE,
        "Its licence is sold by Carnegie Mellon University: ask there.",
    )


_CATALOGUE = (
    Entry(
        "COIL-20",
        ("COIL20",),
        1440,
        1024,
        20,
        "https://www.cs.columbia.edu/CAVE/software/softlib/coil-20.php",
        _FETCH.format("COIL-20"),
        (32, 32),
    ),
    Entry(
        "COIL-100",
        ("COIL100",),
        7200,
        1024,
        100,
        "https://www.cs.columbia.edu/CAVE/software/softlib/coil-100.php",
        _FETCH.format("COIL-100"),
        (32, 32),
    ),
    Entry(
        "Yale-B",
        ("YaleB", "ExtendedYaleB"),
        2414,
        1024,
        38,
        "http://vision.ucsd.edu/~leekc/ExtYaleDatabase/ExtYaleB.html",
        "For research only: ask the Extended Yale Face Database B for the cropped images.",
        (32, 32),
    ),
    Entry(
        "CMU PIE",
        ("PIE", "CMUPIE"),
        11554,
        1024,
        68,
        "https://www.ri.cmu.edu/project/pie-database/",
        "For research only: ask the Robotics Institute of Carnegie Mellon University.",
        (32, 32),
    ),
    *(_multi_pie(session) for session in (1, 2, 3, 4)),
    Entry(
        "UMIST Face",
        ("UMIST", "UMISTFace"),
        575,
        644,
        20,
        "https://www.openml.org/d/41084",
        _FETCH.format("UMIST Face"),
        (28, 23),
    ),
    Entry(
        "Heart",
        ("Heart",),
        270,
        13,
        2,
        "https://archive.ics.uci.edu/dataset/145/statlog+heart",
        _FETCH.format("Heart"),
    ),
    Entry(
        "Ionosphere",
        ("Ionosphere",),
        351,
        34,
        2,
        "https://archive.ics.uci.edu/dataset/52/ionosphere",
        _FETCH.format("Ionosphere"),
    ),
    Entry(
        "Breast",
        ("Breast",),
        569,
        30,
        2,
        "https://archive.ics.uci.edu/dataset/17/breast+cancer+wisconsin+diagnostic",
        "It ships with scikit-learn.",
    ),
    Entry(
        "MNIST",
        ("MNIST",),
        70000,
        784,
        10,
        "https://www.openml.org/d/554",
        _FETCH.format("MNIST"),
        (28, 28),
    ),
    Entry(
        "miniImageNet",
        ("miniImageNet",),
        None,
        None,
        None,
        "https://image-net.org/download.php",
        "ImageNet's licence forbids passing it on: ask there.",
    ),
)


def list_datasets() -> tuple[Entry, ...]:
    """The data sets that have a name here, in the order of the paper's tables.

    Examples
    --------
    >>> from srsg.datasets import list_datasets
    >>> [entry.name for entry in list_datasets()][:3]
    ['COIL-20', 'COIL-100', 'Yale-B']
    """
    return _CATALOGUE


def find_entry(name: str) -> Entry | None:
    """The data set of this name, whatever its case, spaces and hyphens; None if there is none.

    Examples
    --------
    >>> from srsg.datasets import find_entry
    >>> find_entry("multi pie s2").name
    'Multi-PIE S2'
    """
    wanted = plain_name(name)
    for entry in _CATALOGUE:
        if wanted in {plain_name(known) for known in (entry.name, *entry.stems)}:
            return entry
    return None


def plain_name(name: str) -> str:
    """Letters and digits only, in lower case: what names are compared by."""
    return re.sub(r"[\W_]", "", name).lower()
