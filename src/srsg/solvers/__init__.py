"""The paper's optimisation problems: eq. (1), Algorithm 1 and Algorithm 2."""

from srsg.solvers.fpgd_sp import fpgd_sp
from srsg.solvers.l1 import L1Codes, l1_codes
from srsg.solvers.steps import auto_step, theorem_step
from srsg.solvers.sweeps import SRSGCodes, srsg_codes

__all__ = [
    "L1Codes",
    "SRSGCodes",
    "auto_step",
    "fpgd_sp",
    "l1_codes",
    "srsg_codes",
    "theorem_step",
]
