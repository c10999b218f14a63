"""Do the tests notice when the code is wrong?

``python -m tools.mutate run`` makes small changes to the solvers, kernels and graph, one at a time,
runs the tests that reach each, and writes ``docs/results/mutation.md``.
"""
