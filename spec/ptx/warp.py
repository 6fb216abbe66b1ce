"""The multiply-accumulate instructions on a warp's registers: gather, product, scatter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from ..algebra import Algebra, Array
from ..errors import InputError
from ..fragment import Selection
from .block_scaling import Selectors
from .choices import UNSPECIFIED, Choices
from .product import Matrices, product
from .resolution import Multiplication

MatrixProduct = Callable[[Matrices], Array]
"""Maps matrices to D (…, M, N)."""


@dataclass(frozen=True)
class WarpRegisters:
    """The operands of one instruction, each (…, 32 lanes, registers).

    Attributes
    ----------
    a, b, c : array
        b32 registers, for f64 b64.
    scale_a, scale_b, metadata : array, optional
        One b32 register in each lane.
    """

    a: Array
    b: Array
    c: Array
    scale_a: Array | None = None
    scale_b: Array | None = None
    metadata: Array | None = None


@dataclass(frozen=True)
class Immediates:
    """The selectors of an instruction.

    Attributes
    ----------
    scale_a, scale_b : Selectors, optional
        ``{byte_id, thread_id}`` of the scale factors.
    sparsity : int, optional
        The sparsity selector.
    """

    scale_a: Selectors | None = None
    scale_b: Selectors | None = None
    sparsity: int | None = None


def held(form: Multiplication, selected: Immediates) -> dict[str, Selection]:
    """Return how a warp holds each operand of an instruction, D too.

    Raises
    ------
    InputError
        For ``wmma``, whose fragments PTX leaves unspecified, and selectors that are not legal.
    """
    operands = {role: Selection(form.fragment(role)) for role in "abcd"}
    if form.block_scale is not None:
        assert selected.scale_a is not None and selected.scale_b is not None
        operands["scale_a"] = form.block_scale.held("a", selected.scale_a)
        operands["scale_b"] = form.block_scale.held("b", selected.scale_b)
    if form.sparsity is not None:
        assert selected.sparsity is not None
        operands["metadata"] = form.sparsity.held(selected.sparsity)
    return operands


def layout_points(form: Multiplication) -> dict[str, str]:
    """Return the open points that say where operands are in registers, with what each is about."""
    points = {
        "half-k-metadata": form.sparsity is not None and form.sparsity.is_of_half_k,
        "sparse-b": form.sparsity is not None
        and form.container >= 16
        and form.container * form.shape.k == 512,
        "scale-a-rows": form.block_scale is not None,
    }
    return {name: _PLACES[name] for name, is_open in points.items() if is_open}


_PLACES = {
    "half-k-metadata": "which bits of a register are the metadata",
    "sparse-b": "which elements of B a register has",
    "scale-a-rows": "which lanes' registers have the scale factors of A's rows",
}


def require_known_layouts(form: Multiplication, choices: Choices) -> None:
    """Refuse to read operands from registers where a choice leaves open where in them they are.

    Raises
    ------
    InputError
        If one does.
    """
    for point, unknown in layout_points(form).items():
        if getattr(choices, point.replace("-", "_")) == UNSPECIFIED:
            raise InputError(
                f"{point}={UNSPECIFIED}: {unknown} of {form.variant} is not known; give matrices"
            )


def execute(
    alg: Algebra,
    form: Multiplication,
    registers: WarpRegisters,
    selected: Immediates,
    choices: Choices,
    multiply: MatrixProduct | None = None,
) -> Array:
    """Return the registers of D, (…, 32, r), after one instruction.

    Parameters
    ----------
    alg : Algebra
        What the registers are.
    form : Multiplication
        An ``mma`` or ``mma.sp``.
    registers : WarpRegisters
        The operands.
    selected : Immediates
        The selectors that the form takes.
    choices : Choices
        Readings of what PTX leaves open.
    multiply : callable, optional
        Instead of the instruction's own product of matrices.

    Raises
    ------
    InputError
        If the choice is that the bits of its metadata are not known.
    """
    multiply = multiply or partial(product, alg, form, choices=choices)
    require_known_layouts(form, choices)
    operands = held(form, selected)
    d = operands.pop("d")
    matrices = {name: each.gather(alg, getattr(registers, name)) for name, each in operands.items()}
    return d.scatter(alg, multiply(Matrices(**matrices)))
