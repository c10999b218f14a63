"""The scattering transform: against a plain convolution, and what it promises."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from srsg.features import Scattering
from srsg.features.wavelets import filter_bank, morlet


def smooth_images(n_images, shape, seed=0):
    """Random images with more energy at low frequencies, as photographs have."""
    noise = np.random.default_rng(seed).normal(size=(n_images, *shape))
    fy, fx = (np.minimum(np.arange(n), n - np.arange(n)) for n in shape)
    smooth = np.fft.ifft2(np.fft.fft2(noise) / (1 + fy[:, None] ** 2 + fx**2)).real
    return smooth.reshape(n_images, -1) / smooth.std()


# ---- The definition in plain NumPy, convolutions in space.


def from_centre(shape):
    """Rows and columns of every place of a periodic image, counted from place (0, 0)."""
    return np.meshgrid(*((np.arange(n) + n // 2) % n - n // 2 for n in shape), indexing="ij")


def plain_wavelet(shape, scale, angle, slant):
    sigma, frequency = 0.8 * 2**scale, 0.75 * np.pi / 2**scale
    y, x = from_centre(shape)
    along = np.cos(angle) * y + np.sin(angle) * x
    across = np.cos(angle) * x - np.sin(angle) * y
    gaussian = np.exp(-(along**2 + slant**2 * across**2) / (2 * sigma**2))
    gaussian *= slant / (2 * np.pi * sigma**2)
    wave = gaussian * np.exp(1j * frequency * along)
    return wave - wave.sum() / gaussian.sum() * gaussian


def plain_low_pass(shape, n_scales):
    sigma = 0.8 * 2 ** (n_scales - 1)
    y, x = from_centre(shape)
    return np.exp(-(y**2 + x**2) / (2 * sigma**2)) / (2 * np.pi * sigma**2)


def coarser(kernel, level):
    """The low frequencies of a kernel, on every 2**level-th place."""
    spectrum = np.fft.fftshift(np.fft.fft2(kernel))
    middle = [slice(n // 2 - (n >> level) // 2, n // 2 + (n >> level) // 2) for n in kernel.shape]
    return np.fft.ifft2(np.fft.ifftshift(spectrum[tuple(middle)]))


def convolved(image, kernel):
    """Periodic convolution, one shifted copy of the image at a time."""
    result = np.zeros(image.shape, dtype=complex)
    for (dy, dx), weight in np.ndenumerate(kernel):
        result += weight * np.roll(image, (dy, dx), axis=(0, 1))
    return result


def plain_scattering(image, n_scales, n_angles, *, subsample):
    """With ``subsample``, images are thinned out as soon as they are filtered, not at the end."""
    step = 2**n_scales
    missing = [-side % step + 2 * step for side in image.shape]
    padded = np.pad(image, [(m // 2, (m + 1) // 2) for m in missing], mode="reflect")
    angles = [(n_angles - n_angles // 2 - 1 - a) * np.pi / n_angles for a in range(n_angles)]
    wavelets = [
        (j, plain_wavelet(padded.shape, j, angle, 4 / n_angles))
        for j in range(n_scales)
        for angle in angles
    ]
    low_pass = plain_low_pass(padded.shape, n_scales)

    def filtered(x, level, psi, scale):
        skip = 2 ** (scale - level) if subsample else 1
        return np.abs(convolved(x, coarser(psi, level if subsample else 0)))[::skip, ::skip]

    def average(x, scale):
        level = scale if subsample else 0
        every = step >> level
        return convolved(x, coarser(low_pass, level)).real[every:-every:every, every:-every:every]

    first = [(j, filtered(padded, 0, psi, j)) for j, psi in wavelets]
    second = [
        (wider, filtered(u, j, psi, wider))
        for j, u in first
        for wider, psi in wavelets
        if wider > j
    ]
    return np.array([average(padded, 0), *(average(u, j) for j, u in [*first, *second])])


SHAPES = [((8, 8), 1, 4), ((16, 16), 2, 4), ((10, 13), 2, 3)]


@pytest.mark.parametrize(("shape", "n_scales", "n_angles"), SHAPES)
def test_equals_direct_convolutions(shape, n_scales, n_angles):
    image = np.random.default_rng(0).random(shape)
    expected = plain_scattering(image, n_scales, n_angles, subsample=True)
    found = Scattering(shape, n_scales, n_angles).fit_transform(image.reshape(1, -1))
    difference = np.abs(found.reshape(expected.shape) - expected)
    assert difference.max() < 2e-6 * np.abs(expected).max()


def test_is_near_the_definition_without_subsampling():
    shape = (14, 17)
    image = smooth_images(1, shape)[0]
    expected = plain_scattering(image.reshape(shape), 2, 4, subsample=False)
    found = Scattering(shape, 2, 4).fit_transform(image[None]).reshape(expected.shape)
    assert np.linalg.norm(found - expected) < 0.01 * np.linalg.norm(expected)


# ---- What it promises.


def test_shape_and_type_of_the_output():
    X = np.random.default_rng(0).integers(0, 256, size=(3, 784)).astype(np.uint8)
    found = Scattering((28, 28)).fit_transform(X)
    assert found.shape == (3, 217 * 16)
    for dtype in (np.float32, np.float64, np.int64):
        other = Scattering((28, 28)).fit_transform(X.astype(dtype))
        assert other.dtype == np.float32
        np.testing.assert_array_equal(other, found)


def test_one_scale_has_no_second_layer():
    assert Scattering((8, 8), 1, 4).fit_transform(np.ones((2, 64))).shape == (2, 5 * 16)


def test_a_constant_image_has_averages_only():
    found = Scattering((16, 16), 2, 4).fit_transform(np.full((1, 256), 3.0))
    np.testing.assert_allclose(found[0, :16], 3.0, rtol=1e-3)
    assert np.abs(found[0, 16:]).max() < 1e-5


def test_scales_with_the_image():
    X = smooth_images(2, (16, 16))
    transform = Scattering((16, 16), 2).fit_transform
    np.testing.assert_allclose(transform(-3 * X)[:, 16:], 3 * transform(X)[:, 16:], atol=1e-5)


def test_hardly_changes_with_a_shift():
    """A shift by one pixel moves the features far less than the pixels, two pixels more."""
    images = smooth_images(10, (48, 48)).reshape(-1, 48, 48)
    moved = [images[:, 8:40, 8 + shift : 40 + shift].reshape(10, -1) for shift in (0, 1, 2)]
    features = [Scattering((32, 32)).fit_transform(X) for X in moved]

    def change(parts):
        return [np.linalg.norm(part - parts[0]) / np.linalg.norm(parts[0]) for part in parts[1:]]

    (pixels_one, _), (one, two) = change(moved), change(features)
    assert one < 0.6 * pixels_one
    assert one < two


def test_shifting_the_grid_shifts_the_features():
    """A shift by a step of the grid, away from the borders, is a shift of the output."""
    image = np.zeros((64, 64))
    image[24:40, 20:36] = smooth_images(1, (16, 16)).reshape(16, 16)
    shifted = np.roll(image, 4, axis=1)
    X = np.stack([image.ravel(), shifted.ravel()])
    found = Scattering((64, 64), 2, 4).fit_transform(X).reshape(2, -1, 16, 16)
    np.testing.assert_allclose(found[1, :, :, 1:], found[0, :, :, :-1], atol=1e-5)


def test_wavelets_cover_the_frequencies_and_add_no_energy():
    """Littlewood-Paley: the filters pass every frequency, none much louder than it is."""
    shape, n_scales, n_angles = (64, 64), 3, 8
    low_pass = np.abs(np.fft.fft2(plain_low_pass(shape, n_scales))) ** 2
    angles = np.arange(n_angles) * np.pi / n_angles
    energy = sum(
        morlet(shape, j, angle, 4 / n_angles) ** 2 for j in range(n_scales) for angle in angles
    )
    mirrored = np.roll(energy[::-1, ::-1], (1, 1), axis=(0, 1))  # real images have both
    total = low_pass + (energy + mirrored) / 2
    y, x = from_centre(shape)
    inner = y**2 + x**2 < (0.7 * 32) ** 2
    assert total.max() < 1.1
    assert total[inner].min() > 0.15


def test_energy_does_not_grow():
    """The features of the interior have no more energy than the image."""
    X = smooth_images(5, (32, 32))
    found = Scattering((32, 32)).fit_transform(X)
    # A feature stands for a cell of 8 by 8 pixels.
    assert ((found**2).sum(axis=1) * 64 < 1.1 * (X**2).sum(axis=1)).all()


@pytest.mark.parametrize("options", [{"n_jobs": 1}, {"n_jobs": 3}, {"block_size": 1}])
def test_same_bits_for_any_number_of_threads_and_any_blocks(options):
    X = np.random.default_rng(0).random((11, 20 * 27))
    expected = Scattering((20, 27), n_jobs=2, block_size=4).fit_transform(X)
    np.testing.assert_array_equal(Scattering((20, 27), **options).fit_transform(X), expected)
    alone = Scattering((20, 27), **options).fit_transform(X[5:6])
    np.testing.assert_array_equal(alone[0], expected[5])


def test_feature_names_follow_the_order_of_the_output():
    model = Scattering((16, 16), 2, 2).fit(np.ones((1, 256)))
    names = list(model.get_feature_names_out())
    assert len(set(names)) == len(names) == model.transform(np.ones((1, 256))).shape[1]
    assert names[:5] == ["y0_x0", "y0_x1", "y0_x2", "y0_x3", "y1_x0"]
    assert names[16] == "j0_a0_y0_x0"
    assert names[-1] == "j0_a1_j1_a1_y3_x3"


def test_wavelet_names_tell_the_angle():
    """Stripes along one angle have most energy in the channel of that angle."""
    y, x = np.mgrid[:32, :32]
    model = Scattering((32, 32), 2, 4)
    for stripes in (y, x):
        image = np.cos(0.75 * np.pi * stripes).reshape(1, -1)
        energy = model.fit_transform(image).reshape(-1, 64)[1:5].sum(axis=1)
        # Angles count down from 45 degrees: a1 is along the rows, a3 along the columns.
        assert energy.argmax() == (1 if stripes is y else 3)


def test_behaves_like_a_transformer():
    X = smooth_images(6, (8, 8))
    model = Scattering((8, 8), n_scales=2)
    assert clone(model).get_params() == model.get_params()
    pipeline = make_pipeline(model, StandardScaler()).fit(X)
    assert pipeline.transform(X).shape == pipeline[:-1].transform(X).shape
    frame = clone(model).set_output(transform="pandas").fit_transform(X)
    assert list(frame.columns) == list(model.get_feature_names_out())


@pytest.mark.parametrize(
    ("parameters", "named"),
    [
        ({"image_shape": (28,)}, "image_shape"),
        ({"image_shape": (28, 28.0)}, "image_shape"),
        ({"image_shape": 28}, "image_shape"),
        ({"image_shape": (4, 196)}, "n_scales"),
        ({"n_scales": 0}, "n_scales"),
        ({"n_angles": 0}, "n_angles"),
        ({"n_angles": 2.5}, "n_angles"),
        ({"block_size": 0}, "block_size"),
        ({"n_jobs": "all"}, "n_jobs"),
    ],
)
def test_bad_parameters_are_named(parameters, named):
    with pytest.raises((ValueError, TypeError), match=named):
        Scattering(**{"image_shape": (28, 28), **parameters}).fit(np.ones((2, 784)))


def test_bad_images_are_refused():
    model = Scattering((28, 28)).fit(np.ones((2, 784)))
    with pytest.raises(ValueError, match=r"image_shape=\(28, 28\).*784 pixels"):
        Scattering((28, 28)).fit(np.ones((2, 100)))
    with pytest.raises(ValueError, match="100 features"):
        model.transform(np.ones((2, 100)))
    with pytest.raises(ValueError, match="NaN"):
        model.transform(np.full((2, 784), np.nan))
    with pytest.raises(ValueError, match="too large"):
        model.transform(np.full((2, 784), 1e300))


def test_filters_are_made_once():
    assert filter_bank((28, 28), 3, 8) is filter_bank((28, 28), 3, 8)
