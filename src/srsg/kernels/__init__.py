"""Compiled loops: arrays in, arrays out, serial and without the GIL.

Threads live outside (see :mod:`srsg.running`): a parallel kernel called from several
threads would abort the process under numba's default threading layer.
"""
