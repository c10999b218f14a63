"""How points are coded: the problems of the paper and of the methods it is compared with."""

from srsg.coding.approximate import ApproximateCodes, approximate_l1_codes
from srsg.coding.elastic_net import smallest_empty_lam
from srsg.coding.fpgd_sp import fpgd_sp
from srsg.coding.l1 import L1Codes, l1_codes
from srsg.coding.laplacian import LaplacianCodes, laplacian_codes
from srsg.coding.omp import omp_codes
from srsg.coding.ridge import RidgeCodes, ridge_codes
from srsg.coding.smce import SMCECodes, new_smce_codes, smce_codes
from srsg.coding.sweeps import SRSGCodes, auto_step, new_srsg_codes, srsg_codes, theorem_step

__all__ = [
    "ApproximateCodes",
    "L1Codes",
    "LaplacianCodes",
    "RidgeCodes",
    "SMCECodes",
    "SRSGCodes",
    "approximate_l1_codes",
    "auto_step",
    "fpgd_sp",
    "l1_codes",
    "laplacian_codes",
    "new_smce_codes",
    "new_srsg_codes",
    "omp_codes",
    "ridge_codes",
    "smallest_empty_lam",
    "smce_codes",
    "srsg_codes",
    "theorem_step",
]
