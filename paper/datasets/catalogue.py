"""What is known about each data set: its size, its names, where it comes from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class OpenML:
    """A data set at OpenML.

    Attributes
    ----------
    query : mapping
        Arguments of :func:`sklearn.datasets.fetch_openml`.
    shape : tuple or None
        Height and width of the images there, if they are larger than ours.
    """

    query: Mapping[str, str | int]
    shape: tuple[int, int] | None = None


@dataclass(frozen=True)
class Archive:
    """A data set that is a zip file of images.

    Attributes
    ----------
    url : str
        The file.
    class_in_name : str
        Regular expression for the names of the images; its group is the class, a number.
    sha256 : str or None
        Checksum of the file. If it is None, that of the first download is kept and compared.
    """

    url: str
    class_in_name: str
    sha256: str | None = None


@dataclass(frozen=True)
class Entry:
    """One data set.

    Attributes
    ----------
    name : str
        As the paper writes it.
    stems : tuple of str
        File names without ending under which it is looked for, the usual one first.
    source : str
        The page of its owners.
    licence : str
        Who may use it, and whom to ask if it cannot be downloaded.
    n_samples, n_features, n_classes : int or None
        Its size as used in the paper; None where the paper does not say.
    image_shape : tuple or None
        Height and width of one sample.
    home : OpenML, Archive or None
        Where :func:`fetch_dataset` gets it; None if it may not be redistributed.

    Examples
    --------
    >>> from paper.datasets import find_entry
    >>> entry = find_entry("coil20")
    >>> entry.name, entry.n_samples, entry.n_classes
    ('COIL-20', 1440, 20)
    """

    name: str
    stems: tuple[str, ...]
    source: str
    licence: str
    n_samples: int | None = None
    n_features: int | None = None
    n_classes: int | None = None
    image_shape: tuple[int, int] | None = None
    home: OpenML | Archive | None = None

    @property
    def obtain(self) -> str:
        """How to get it."""
        if self.home:
            return f"Run python -m paper.datasets --fetch {self.name!r}."
        return f"{self.licence} Its home: {self.source}"


_UCI = "CC BY 4.0."
_COIL = "https://www.cs.columbia.edu/CAVE/"
_COIL_FILES = f"{_COIL}databases/SLAM_coil-20_coil-100/"
_COIL_NAMES = r"obj(\d+)__\d+\.png"

_CATALOGUE = (
    Entry(
        name="COIL-20",
        stems=("COIL20",),
        source=f"{_COIL}software/softlib/coil-20.php",
        licence="For research only.",
        n_samples=1440,
        n_features=1024,
        n_classes=20,
        image_shape=(32, 32),
        home=Archive(f"{_COIL_FILES}coil-20/coil-20-proc.zip", _COIL_NAMES),
    ),
    Entry(
        name="COIL-100",
        stems=("COIL100",),
        source=f"{_COIL}software/softlib/coil-100.php",
        licence="For research only.",
        n_samples=7200,
        n_features=1024,
        n_classes=100,
        image_shape=(32, 32),
        home=Archive(f"{_COIL_FILES}coil-100/coil-100.zip", _COIL_NAMES),
    ),
    Entry(
        name="Yale-B",
        stems=("YaleB", "ExtendedYaleB"),
        source="http://vision.ucsd.edu/~leekc/ExtYaleDatabase/ExtYaleB.html",
        licence="For research only: ask its owners for the cropped images.",
        n_samples=2414,
        n_features=1024,
        n_classes=38,
        image_shape=(32, 32),
    ),
    Entry(
        name="CMU PIE",
        stems=("PIE", "CMUPIE"),
        source="https://www.ri.cmu.edu/project/pie-database/",
        licence="For research only: ask Carnegie Mellon University.",
        n_samples=11554,
        n_features=1024,
        n_classes=68,
        image_shape=(32, 32),
    ),
    *(
        Entry(
            name=f"Multi-PIE S{session}",
            stems=(f"MultiPIE_S{session}", f"MPIE_S{session}"),
            source="https://www.cs.cmu.edu/afs/cs/project/PIE/MultiPie/Multi-Pie/Home.html",
            licence="Its licence is sold: ask Carnegie Mellon University.",
        )
        for session in (1, 2, 3, 4)
    ),
    Entry(
        name="UMIST Face",
        stems=("UMIST", "UMISTFace"),
        source="https://www.openml.org/search?type=data&q=UMIST_Faces_Cropped",
        licence="For research only.",
        n_samples=575,
        n_features=644,
        n_classes=20,
        image_shape=(28, 23),
        home=OpenML({"name": "UMIST_Faces_Cropped", "version": 1}, (112, 92)),
    ),
    Entry(
        name="Heart",
        stems=("Heart",),
        source="https://archive.ics.uci.edu/dataset/145/statlog+heart",
        licence=_UCI,
        n_samples=270,
        n_features=13,
        n_classes=2,
        home=OpenML({"name": "heart-statlog", "version": 1}),
    ),
    Entry(
        name="Ionosphere",
        stems=("Ionosphere",),
        source="https://archive.ics.uci.edu/dataset/52/ionosphere",
        licence=_UCI,
        n_samples=351,
        n_features=34,
        n_classes=2,
        home=OpenML({"name": "ionosphere", "version": 1}),
    ),
    Entry(
        name="Breast",
        stems=("Breast",),
        source="https://archive.ics.uci.edu/dataset/17/breast+cancer+wisconsin+diagnostic",
        licence=f"{_UCI} It ships with scikit-learn.",
        n_samples=569,
        n_features=30,
        n_classes=2,
    ),
    Entry(
        name="MNIST",
        stems=("MNIST",),
        source="https://www.openml.org/d/554",
        licence="CC BY-SA 3.0.",
        n_samples=70000,
        n_features=784,
        n_classes=10,
        image_shape=(28, 28),
        home=OpenML({"name": "mnist_784", "version": 1}),
    ),
    Entry(
        name="miniImageNet",
        stems=("miniImageNet",),
        source="https://image-net.org/download.php",
        licence="For research only, and not to be passed on: ask ImageNet.",
    ),
    Entry(
        name="USPS",
        stems=("USPS",),
        source="https://www.openml.org/d/41082",
        licence="See its page.",
        n_samples=9298,
        n_features=256,
        n_classes=10,
        image_shape=(16, 16),
        home=OpenML({"data_id": 41082}),
    ),
)


def list_datasets() -> tuple[Entry, ...]:
    """The data sets that are known by name: those of the paper first, in the order of its tables.

    Examples
    --------
    >>> from paper.datasets import list_datasets
    >>> [entry.name for entry in list_datasets()][:3]
    ['COIL-20', 'COIL-100', 'Yale-B']
    """
    return _CATALOGUE


def find_entry(name: str) -> Entry | None:
    """The data set of this name, whatever its case, spaces and hyphens; None if there is none.

    Examples
    --------
    >>> from paper.datasets import find_entry
    >>> find_entry("multi pie s2").name
    'Multi-PIE S2'
    """
    wanted = plain_name(name)
    for entry in _CATALOGUE:
        if wanted in {plain_name(other) for other in (entry.name, *entry.stems)}:
            return entry
    return None


def plain_name(name: str) -> str:
    """Letters and digits only, in lower case: the form in which names are compared."""
    return re.sub(r"[\W_]", "", name).lower()
