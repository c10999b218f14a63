"""Features of images: numbers that make clusters easier to see than pixels do."""

from srsg.features.scattering import Scattering

__all__ = ["Scattering"]
