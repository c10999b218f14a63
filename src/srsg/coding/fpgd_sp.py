"""Algorithm 1 of the paper: fast proximal gradient descent with support projection."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Bunch

from srsg.kernels.fpgd_sp import FPGDRun, Settings, Trace, fpgd_sp_run
from srsg.running import serial_linear_algebra
from srsg.types import FloatArray, IntArray


def fpgd_sp(
    A: ArrayLike,
    b: ArrayLike,
    c: ArrayLike,
    gamma: float,
    z0: ArrayLike,
    *,
    step: float,
    max_iter: int = 100,
    tol: float = 0.0,
    fixed_zero: int | Sequence[int] | IntArray | None = None,
) -> tuple[FloatArray, Bunch]:
    """Minimise ``||b - A z||^2 + gamma * sum_{c_t > 0} c_t [z_t != 0]`` from the start ``z0``.

    This is Algorithm 1 for problem (7) of the paper, with ``alpha_k = 2 / (k + 1)`` and
    ``lambda_k = step * k / 2``. It runs on the coordinates that move: those with ``z0_t != 0`` or
    ``c_t <= 0``, and any other whose gradient might lift it over its threshold. A run on all
    coordinates gives the same result.

    Parameters
    ----------
    A : array of shape (d, n)
        One atom per column; the paper's X.
    b : array of shape (d,)
        The vector to code; the paper's ``x_i``.
    c : array of shape (n,)
        Penalties: a non-zero where ``c_t > 0`` costs ``gamma * c_t``, elsewhere it is free.
    gamma : float
        Weight of the penalties.
    z0 : array of shape (n,)
        The start.
    step : float
        The step s. Theorem 3.2 asks for less than ``1 / (2 sigma_max(A)^2)``, see
        :func:`srsg.coding.theorem_step`. Far larger steps are also stable if they are below
        ``1 / (2 sigma_max(A_S)^2)`` for the columns S that move.
    max_iter : int
        Number of iterations, the paper's M_p.
    tol : float
        Stop once the objective changes by less than this; with zero, never stop early.
    fixed_zero : int or array of int, optional
        Coordinates that must stay zero, such as the point itself.

    Returns
    -------
    z : ndarray of shape (n,)
        The last iterate.
    history : Bunch
        ``objective`` of every iterate, the start included, and its ``support``, a list of index
        arrays. ``active`` has the coordinates that took part, ``z`` and ``v`` the iterates on
        them, one per row.

    Examples
    --------
    >>> import numpy as np
    >>> from srsg.coding import fpgd_sp
    >>> A, b = np.eye(3), np.array([1.0, 0.5, 0.01])
    >>> z, history = fpgd_sp(A, b, c=[1, 1, 1], gamma=0.01, z0=b / 2, step=0.4)
    >>> np.round(z, 3)
    array([1. , 0.5, 0. ])
    >>> history.support[-1]
    array([0, 1])
    """
    A, b, c, z0 = _checked(A, b, c, z0)
    for name, value in {"gamma": gamma, "step": step, "max_iter": max_iter}.items():
        if not value > 0:
            raise ValueError(f"{name} must be positive, got {value}.")
    allowed = _allowed(fixed_zero, len(z0))
    # A coordinate that must stay zero starts there: the paper's ``z_i = 0``.
    z0 = np.where(allowed, z0, 0.0)
    takes_part = allowed & ((z0 != 0) | (c <= 0))
    # No warnings of overflow here: the check below finds it.
    with np.errstate(over="ignore", invalid="ignore"):
        norms = np.linalg.norm(A, axis=0)
        resid = b - A @ z0
        start_gradient = 2 * np.abs(A.T @ resid)
        sizes = np.concatenate([norms**2, start_gradient, [resid @ resid, b @ b]])
    if not np.isfinite(sizes).all():
        raise ValueError("A, b or z0 is too large: the objective overflows.")
    # Where c < 0 the root is NaN, and no comparison with NaN is true. That is fine: these
    # coordinates take part from the start. Divided by the step, as in ``with_entrants``.
    with np.errstate(over="ignore", invalid="ignore"):
        threshold = np.sqrt(2 * gamma * c / step)
    settings = Settings(float(gamma), float(step), int(max_iter), float(tol))
    # Coordinates join and never leave, so there are at most n rounds.
    while True:
        active = np.flatnonzero(takes_part)
        z, run, trace = _run(A[:, active], b, c[active], z0[active], settings)
        if not np.isfinite(run.fit):
            raise ValueError(f"step={step} is too large: the iterates diverge.")
        # Two bounds on the gradient over the whole run, as in the check of the sweeps: its start
        # plus how far the run went, and the length of the residual. Atoms need not have unit norm
        # here, so both are multiplied by their norms.
        travelled = start_gradient + 2 * run.radius * norms
        gradient_bound = np.minimum(travelled, 2 * run.residual_norm * norms)
        entrants = allowed & ~takes_part & (gradient_bound > threshold)
        if not entrants.any():
            break
        takes_part |= entrants
    # Back to full length.
    solution = np.zeros_like(z0)
    solution[active] = z
    kept = run.iterations + 1
    history = Bunch(
        objective=trace.objective[:kept],
        support=[active[row != 0] for row in trace.z[:kept]],
        active=active,
        z=trace.z[:kept],
        v=trace.v[:kept],
    )
    return solution, history


def _run(
    A: FloatArray, b: FloatArray, c: FloatArray, z0: FloatArray, settings: Settings
) -> tuple[FloatArray, FPGDRun, Trace]:
    """Run the kernel on some columns, with a record of the iterates."""
    shape = (settings.max_iter + 1, len(z0))
    trace = Trace(np.empty(shape[0]), np.empty(shape), np.empty(shape))
    z = z0.copy()
    touched = np.empty(len(z), dtype=bool)
    # One thread of BLAS: with more, the bits of a product may depend on how many there are.
    with serial_linear_algebra(), np.errstate(over="ignore", invalid="ignore"):
        gram, correlation = A.T @ A, A.T @ b
        run = fpgd_sp_run(gram, correlation, float(b @ b), c, z, touched, settings, trace)
    return z, run, trace


def _checked(*arrays: ArrayLike) -> tuple[FloatArray, ...]:
    """The arrays in float64, or an error that names the wrong one."""
    names = ("A", "b", "c", "z0")
    A, b, c, z0 = checked = tuple(np.array(array, dtype=np.float64) for array in arrays)
    for name, array in zip(names, checked, strict=True):
        if not np.isfinite(array).all():
            raise ValueError(f"{name} contains NaN or infinity.")
    if A.ndim != 2:
        raise ValueError(f"A must have shape (d, n), got {A.shape}.")
    for name, array, length in (("b", b, A.shape[0]), ("c", c, A.shape[1]), ("z0", z0, A.shape[1])):
        if array.shape != (length,):
            raise ValueError(
                f"{name} must have shape ({length},) to fit A of shape {A.shape}, got "
                f"{array.shape}."
            )
    return checked


def _allowed(fixed_zero: int | Sequence[int] | IntArray | None, n: int) -> NDArray[np.bool_]:
    """Which of the n coordinates may be non-zero."""
    allowed = np.ones(n, dtype=bool)
    if fixed_zero is not None:
        fixed = np.asarray(fixed_zero)
        if fixed.size and (fixed.dtype.kind not in "iu" or fixed.min() < -n or fixed.max() >= n):
            raise ValueError(
                f"fixed_zero must name coordinates from 0 to {n - 1}, got {fixed_zero}."
            )
        allowed[fixed.astype(np.int64)] = False
    return allowed
