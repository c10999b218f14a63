"""Random cases: extreme data and parameters, damaged files, each run under a watchdog.

Case number k is the same on every machine. ``python -m fuzz --cases 100000`` runs many of them in
processes of their own; ``python -m fuzz --only K`` runs one again, in this process.
"""
