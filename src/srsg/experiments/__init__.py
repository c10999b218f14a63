"""The paper's evaluation: its tables and figures, made by ``srsg reproduce``."""
