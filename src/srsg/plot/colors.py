"""Colours of clusters, the same in every picture."""

from __future__ import annotations

import colorsys

# Paul Tol's vibrant scheme: colour-blind readers can tell its colours apart, on light and dark
# backgrounds.
_FIRST = ("#0077bb", "#ee7733", "#009988", "#cc3311", "#33bbee", "#ee3377", "#999999")
_GOLDEN_ANGLE = 0.381966
_LIGHTNESS = (0.62, 0.45, 0.74)


def palette(count: int) -> list[str]:
    """A number of different colours; the first seven are safe for colour-blind readers.

    A longer palette cannot be safe, so pictures also name the clusters.

    Examples
    --------
    >>> from srsg.plot.colors import palette
    >>> palette(2)
    ['#0077bb', '#ee7733']
    >>> len(set(palette(100)))
    100
    """
    return [*_FIRST[:count], *(_further(place) for place in range(count - len(_FIRST)))]


def _further(place: int) -> str:
    hue = (0.78 + place * _GOLDEN_ANGLE) % 1.0
    channels = colorsys.hls_to_rgb(hue, _LIGHTNESS[place % len(_LIGHTNESS)], 0.55)
    return "#" + "".join(f"{round(255 * channel):02x}" for channel in channels)
