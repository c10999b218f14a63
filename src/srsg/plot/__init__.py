"""Pictures with matplotlib: every function takes and returns an Axes."""

from srsg.plot.curves import objective, sensitivity
from srsg.plot.graph import affinity, eigenvalues, embedding
from srsg.plot.members import gallery

__all__ = ["affinity", "eigenvalues", "embedding", "gallery", "objective", "sensitivity"]
