"""Folders of images."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from srsg.files import FileError, read_points
from support.file_samples import (
    cut,
    raw,
    text,
)


def image(path, size=(3, 2), mode="L", value=7):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new(mode, size, value).save(path)
    return path


def test_images_in_folders_of_their_class(tmp_path):
    for number, name in enumerate(["s10/a.png", "s2/b10.pgm", "s2/b9.PNG"]):
        image(tmp_path / name, value=number)
    image(tmp_path / ".hidden" / "c.png")
    text(tmp_path / "s2" / "notes.txt", "no image")
    table = read_points(tmp_path)
    assert table.row_ids.tolist() == ["s2/b9.PNG", "s2/b10.pgm", "s10/a.png"]
    assert table.class_names == ("s2", "s10")
    assert table.y.tolist() == [0, 0, 1]
    assert table.image_shape == (2, 3)
    np.testing.assert_array_equal(table.X, np.repeat([[2.0], [1.0], [0.0]], 6, axis=1))


def test_images_without_classes(tmp_path):
    image(tmp_path / "a.png")
    image(tmp_path / "b.bmp")
    assert read_points(tmp_path).y is None


def test_colours_are_kept_or_turned_gray(tmp_path):
    image(tmp_path / "a.png", mode="RGB", value=(10, 20, 30))
    image(tmp_path / "b.png")
    table = read_points(tmp_path)
    assert table.image_shape == (2, 3, 3)
    np.testing.assert_array_equal(table.X[0].reshape(2, 3, 3)[1, 2], [10, 20, 30])
    np.testing.assert_array_equal(table.X[1], 7)
    assert read_points(tmp_path, gray=True).image_shape == (2, 3)


def test_sixteen_bits_are_not_cut_off(tmp_path):
    Image.fromarray(np.full((2, 3), 40000, dtype=np.uint16)).save(tmp_path / "a.png")
    np.testing.assert_array_equal(read_points(tmp_path).X, 40000)


def test_images_of_different_sizes_get_the_commonest(tmp_path):
    for name, size in (("a", (3, 2)), ("b", (8, 8)), ("c", (3, 2))):
        image(tmp_path / f"{name}.png", size)
    table = read_points(tmp_path)
    assert table.image_shape == (2, 3)
    assert table.notes == ("1 of 3 images resized to 2 x 3",)
    wanted = read_points(tmp_path, image_size=(4, 5))
    assert wanted.image_shape == (4, 5)
    assert wanted.notes == ("3 of 3 images resized to 4 x 5",)
    np.testing.assert_array_equal(wanted.X, np.full((3, 20), 7))


@pytest.mark.parametrize("orientation", range(1, 9))
def test_images_taken_on_their_side_stand_upright(tmp_path, orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    Image.new("L", (30, 20)).save(tmp_path / "a.jpg", exif=exif)
    assert read_points(tmp_path).image_shape == ((20, 30) if orientation < 5 else (30, 20))


def test_corrupt_images_are_named(tmp_path):
    image(tmp_path / "a.png")
    rng = np.random.default_rng(0)
    noise = Image.fromarray(rng.integers(0, 255, (64, 64), dtype=np.uint8))
    noise.save(tmp_path / "b.png")
    cut(tmp_path / "b.png")
    with pytest.raises(FileError, match=r"b\.png: cannot be read as an image"):
        read_points(tmp_path)
    raw(tmp_path / "b.png")
    with pytest.raises(FileError, match=r"b\.png: cannot be read as an image"):
        read_points(tmp_path)
