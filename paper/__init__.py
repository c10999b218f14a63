"""The paper's evaluation, its tables and figures: ``make paper``, or ``python -m paper``."""
