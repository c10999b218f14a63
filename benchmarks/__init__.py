"""How fast the package is, as ratios measured in one run: ``python -m benchmarks``."""
