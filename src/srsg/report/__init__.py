"""A page about a fitted model: one HTML file that needs no network.

``facts`` checks the arguments and reads the model, ``pictures`` and ``charts`` draw, ``sections``
and ``evidence`` write the parts of the page from pieces of ``markup``, and ``page`` puts them
together with the files in ``assets``.
"""

from srsg.report.page import write_report

__all__ = ["write_report"]
