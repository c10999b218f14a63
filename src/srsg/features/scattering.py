"""The scattering transform as a scikit-learn transformer."""

from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted, validate_data

from srsg.features.wavelets import FilterBank, filter_bank, scattering
from srsg.running import ThreadEngine
from srsg.types import Matrix

AT_LEAST_ONE = Interval(Integral, 1, None, closed="left")

ACCEPTED = [np.float32, *map(np.dtype, np.typecodes["AllInteger"])]
"""Types that X may have; other numbers are converted to the first. Integers are converted to
floats block by block."""


@dataclass(eq=False, repr=False)
class Scattering(TransformerMixin, BaseEstimator):
    """Two-layer wavelet scattering transform of images (Bruna and Mallat, 2013).

    An image x is filtered by Morlet wavelets of ``n_scales`` scales and ``n_angles`` angles, and
    the modulus of the result is filtered once more by the wavelets of larger scales. The features
    are local averages over about ``2**n_scales`` pixels of x, of ``|x * psi_1|`` and of
    ``||x * psi_1| * psi_2|``. They hardly change when the image is shifted or deformed a little,
    and yet they distinguish textures and shapes. There is nothing to learn.

    Parameters
    ----------
    image_shape : tuple of int
        Height and width of the images, each at least ``2**n_scales``.
    n_scales : int
        Number of scales, each twice as large as the one before. The averages are taken every
        ``2**n_scales`` pixels.
    n_angles : int
        Number of angles between 0 and 180 degrees.
    block_size : int
        Images that a thread takes at once. The result does not depend on it.
    n_jobs : int or None
        Threads; None takes all cores. The result does not depend on it.

    Attributes
    ----------
    n_features_in_ : int
        Pixels of an image.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of X, if all of them are strings.

    Notes
    -----
    Images are padded by reflection to a multiple of ``2**n_scales``, and by ``2**n_scales`` more
    pixels on each side. For images whose sides are such multiples, the numbers are those of
    kymatio's ``Scattering2D``, in the same order, up to about 3e-5 of the largest: kymatio rounds
    pi to 3.1415. Other images get a larger grid than kymatio's. All computations are in float32.

    References
    ----------
    J. Bruna and S. Mallat, "Invariant scattering convolution networks", IEEE Transactions on
    Pattern Analysis and Machine Intelligence 35(8), 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.features import Scattering
    >>> images = np.random.default_rng(0).random((5, 28 * 28))
    >>> Scattering((28, 28)).fit_transform(images).shape
    (5, 3472)

    Features before clustering:

    >>> from sklearn.datasets import load_digits
    >>> from sklearn.pipeline import make_pipeline
    >>> from srsg import SRSG
    >>> X, y = load_digits(n_class=3, return_X_y=True)
    >>> model = make_pipeline(Scattering((8, 8), n_scales=2), SRSG(n_clusters=3, random_state=0))
    >>> model.fit_predict(X).shape
    (537,)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "image_shape": [tuple, list],
        "n_scales": [AT_LEAST_ONE],
        "n_angles": [AT_LEAST_ONE],
        "block_size": [AT_LEAST_ONE],
        "n_jobs": [Integral, None],
    }

    image_shape: tuple[int, int]
    n_scales: int = 3
    n_angles: int = 8
    _: KW_ONLY
    block_size: int = 64
    n_jobs: int | None = None

    def fit(self, X: Matrix, y: None = None) -> Self:
        """Check the parameters and the number of pixels; there is nothing to learn.

        Parameters
        ----------
        X : array of shape (n_samples, height * width)
            One flattened image per row.
        y : None
            Ignored.

        Returns
        -------
        self
        """
        self._validated(X, reset=True)
        return self

    def transform(self, X: Matrix) -> NDArray[np.float32]:
        """The scattering coefficients of images.

        Parameters
        ----------
        X : array of shape (n_samples, height * width)
            One flattened image per row.

        Returns
        -------
        ndarray of shape (n_samples, n_features_out), float32
            Ordered by channel, then by row and column of the output grid; see
            :meth:`get_feature_names_out`.
        """
        check_is_fitted(self)
        images = self._validated(X, reset=False)
        engine = ThreadEngine(self.n_jobs)
        return scattering(images, self._shape(), self._filters(), self.block_size, engine)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names such as ``"j0_a3_j2_a1_y0_x2"``.

        Scale and angle of each wavelet on the way (none for the average of the image itself),
        then row and column of the output grid.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        ndarray of str
        """
        bank = self._filters()
        rows, columns = bank.grid_shape
        first = [(j, f"j{j}_a{a}_") for j in range(bank.n_scales) for a in range(bank.n_angles)]
        second = [one + two for j, one in first for wider, two in first if wider > j]
        paths = ["", *(name for _, name in first), *second]
        names = [f"{path}y{y}_x{x}" for path in paths for y in range(rows) for x in range(columns)]
        return np.array(names, dtype=object)

    def _shape(self) -> tuple[int, int]:
        height, width = self.image_shape
        return int(height), int(width)

    def _filters(self) -> FilterBank:
        return filter_bank(self._shape(), int(self.n_scales), int(self.n_angles))

    def _validated(self, X: Matrix, *, reset: bool) -> NDArray:
        self._validate_params()
        sides = self.image_shape
        if len(sides) != 2 or not all(isinstance(side, Integral) for side in sides):
            raise ValueError(
                f"image_shape={sides!r} must be two whole numbers: height and width in pixels."
            )
        if min(sides) < 2**self.n_scales:
            raise ValueError(
                f"n_scales={self.n_scales} is too many for image_shape={tuple(sides)}: both sides "
                f"must have at least 2**n_scales = {2**self.n_scales} pixels."
            )
        with np.errstate(over="ignore"):  # what float32 cannot hold is refused just after
            images: NDArray = validate_data(self, X, dtype=ACCEPTED, order="C", reset=reset)
        height, width = self._shape()
        if images.shape[1] != height * width:
            raise ValueError(
                f"X has {images.shape[1]} features, but image_shape=({height}, {width}) asks for "
                f"{height} x {width} = {height * width} pixels per row."
            )
        return images

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags
