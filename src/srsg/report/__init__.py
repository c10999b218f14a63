"""A page about a fitted model: one HTML file that needs no network.

``findings`` checks and counts, ``pictures``, ``thumbnails``, ``profiles`` and ``charts`` draw,
``sections``, ``choice``, ``gallery`` and ``evidence`` write the parts of the page and ``page`` puts
them together with what is in ``assets``.
"""

from srsg.report.page import write_report

__all__ = ["write_report"]
