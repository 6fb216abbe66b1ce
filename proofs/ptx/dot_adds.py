"""Fused dot-adds of matrix units, executed, against their definition in exact fractions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from ...spec.algebra import Array, Operand
from ...spec.dot_add_model import DotAddModel
from ...spec.errors import UnsupportedError
from ...spec.formats import FloatFormat, as_float, format_named
from ...spec.instruction_set import instruction_set
from ...spec.numpy_algebra import NumpyAlgebra
from ...spec.rounding import Rounding
from ..comparison import compared, refusal_is
from ..obligation import Case, Certificate, Method, theorem
from ..stated import dot_add as stated
from ..stated.arithmetic import DIRECTIONS, rounded
from ..stated.encodings import shape
from ..table_theorem import answered

COUNT = 60
"""Sums of each model."""

_HIGHER = {"ue8m0": 12, "ue4m3": 3 << 3}
"""What makes a scale factor larger: 2^12 and 2^3 times."""

Model = stated.Model

MODELS: tuple[tuple[Model, str, str, str, int, str], ...] = (
    # model, factors, result, addend, products, scale factors
    *((Model(24, each), "f16", "f32", "f32", 4, "") for each in DIRECTIONS),
    *((Model(23, each), "bf16", "f32", "f32", 3, "") for each in DIRECTIONS),
    *((Model(13, each, 13), "e5m2", "f32", "f32", 8, "") for each in DIRECTIONS),
    *((Model(25, each), "f16", "f16", "f16", 5, "") for each in DIRECTIONS),
    (Model(12, "toward-zero", zeros_count=True), "e4m3", "f32", "f32", 6, ""),
    (Model(12, "nearest-even", signed=True), "e2m3", "f16", "f16", 3, ""),
    (Model(25, "toward-zero", zeros_count=True, signed=True), "tf32", "f32", "f32", 2, ""),
    (Model(25, "toward-zero"), "e4m3", "f32", "f32", 4, "ue8m0"),
    (Model(35, "toward-zero", group=4), "e2m1", "f32", "f32", 8, "ue8m0"),
    (Model(35, "nearest-even", group=2, zeros_count=True), "e2m1", "f32", "f32", 8, "ue4m3"),
    (Model(20, "upward", group=2, signed=True), "e2m1", "f32", "f32", 4, ""),
)  # fmt: skip

LIMITS = (
    # model, factors, result, products, scale factors, whether it is computed
    (Model(25, "toward-zero"), "f16", "f32", 64, "", True),
    (Model(44, "toward-zero"), "f16", "f32", 64, "", True),
    (Model(45, "toward-zero"), "f16", "f32", 64, "", False),
    (Model(45, "toward-zero"), "f16", "f32", 63, "", True),
    (Model(45, "toward-zero"), "f16", "f32", 62, "", True),
    (Model(25, "toward-zero"), "f32", "f32", 4, "", True),
    (Model(4, "toward-zero"), "f64", "f32", 4, "", False),
    (Model(25, "toward-zero"), "f16", "f64", 4, "", False),
    (Model(25, "toward-zero"), "f16", "bf16", 4, "", False),
    (Model(35, "toward-zero", group=16), "e2m1", "f32", 64, "ue4m3", True),
    (Model(37, "toward-zero", group=16), "e2m1", "f32", 64, "ue4m3", True),
    (Model(38, "toward-zero", group=16), "e2m1", "f32", 64, "ue4m3", False),
    (Model(1, "toward-zero", group=4), "f32", "f32", 8, "", False),
    (Model(4, "toward-zero", group=8), "e4m3*e5m2", "f32", 8, "", True),
    (Model(4, "toward-zero", group=16), "e4m3*e5m2", "f32", 16, "", False),
)  # fmt: skip
"""What float64 carries: (terms + 1)·2^(factors + F) ≤ 2^53, of groups times the largest sum of one, which has
to be at most 2^53 of the smallest products: 8·448·57344 / 2^-25 is, twice that is not."""


@theorem(
    "ptx/stated/dot-add",
    "sampled fused dot-adds are executed as they are defined, term by term",
    "for 60 sums of each listed model, format and direction, with zeros, subnormal factors and scale "
    "factors: the encoding is that of the terms cut off below the largest exponent, summed and rounded once "
    "in fractions; infinities and NaNs as IEEE 754 says; what float64 can't sum exactly is refused; four "
    "elements of products chain the steps of their unit, emulated ones as f16 from +0, C added last",
    "MMA-Sim, arXiv 2511.10909",
)
def dot_adds() -> Iterator[Case]:
    """Yield one certificate for each model, one for infinities and NaNs, and one for limits."""
    for place, (model, factors, result, *_) in enumerate(MODELS):
        name = f"{place:02d}-{factors}-{result}-{model.direction}"
        yield Case(name, partial(_sums, place), method=Method.CERTIFICATE)
    yield Case("special", _special, method=Method.CERTIFICATE)
    yield Case("limits", _limits, method=Method.CERTIFICATE)
    for (text, unit), steps in CHAINS.items():
        shape_and_types = text.partition("aligned.")[2].replace("row.col.", "")
        yield Case(f"{unit}/{shape_and_types}", partial(_chain, text, unit, steps), method=Method.CERTIFICATE)


def _float(name: str) -> FloatFormat:
    return as_float(format_named(name))


def _specified(model: Model) -> DotAddModel:
    direction = Rounding(DIRECTIONS.index(model.direction))
    return DotAddModel(
        model.fraction, direction, model.kept, model.group, model.zeros_count, model.signed
    )  # fmt: skip


def _sums(place: int) -> Certificate:
    model, factors, result, of_c, products, of_scales = MODELS[place]
    groups = products // model.group
    drawn = {
        name: np.array(
            list(stated.draws(kind, COUNT * width, place * 7 + at, shape(kind).bias + shift))
        ).reshape(COUNT, width)
        for at, (name, kind, width, shift) in enumerate((
            ("x", factors, products, 1), ("y", factors, products, 0), ("c", of_c, 1, 1),
            *((("p", of_scales, groups, 0), ("q", of_scales, groups, 1)) if of_scales else ()),
        ))
    }  # fmt: skip
    kinds = {"x": factors, "y": factors, "c": of_c, "p": of_scales, "q": of_scales}
    if model.group > 1:  # a group of zeros, with larger scale factors where there are any
        drawn["x"][::3, : model.group] &= shape(factors).sign
        if of_scales:
            room = shape(of_scales).largest - drawn["p"][::3, 0]
            drawn["p"][::3, 0] += np.minimum(room, _HIGHER[of_scales])

    def numbers(name: str, row: int) -> list[stated.Number]:
        return [stated.number(kinds[name], int(code)) for code in drawn[name][row]]

    expected = {}
    for row in range(COUNT):
        pairs = list(zip(numbers("x", row), numbers("y", row), strict=True))
        scales = list(zip(numbers("p", row), numbers("q", row), strict=True)) if of_scales else []
        expected[row] = stated.dot_add(model, result, pairs, numbers("c", row)[0], scales)

    def specified() -> Mapping[int, int]:
        given = {
            name: Operand(codes.astype(_float(kinds[name]).storage), _float(kinds[name]))
            for name, codes in drawn.items()
        }
        addend = Operand(given["c"].bits[:, 0], given["c"].format)
        scales = (given["p"], given["q"]) if of_scales else None
        found = NumpyAlgebra().dot_add(
            _float(result), _specified(model), given["x"], given["y"], addend, scales
        )
        return dict(enumerate(map(int, found)))

    return compared(expected, specified)


_INF, _NAN, _ONE = 0x7C00, 0x7E00, 0x3C00
_MINUS = 0x8000

SPECIAL = (
    # products of f16, C in f32, result
    (((_INF, _ONE), (_ONE, _ONE)), 0x3F800000, 0x7F800000),
    (((_INF | _MINUS, _ONE), (_ONE, _ONE)), 0x3F800000, 0xFF800000),
    (((_INF, _ONE), (_INF, _ONE)), 0, 0x7F800000), (((_INF, _ONE), (_INF | _MINUS, _ONE)), 0, 0x7FFFFFFF),
    (((_INF, 0), (_ONE, _ONE)), 0, 0x7FFFFFFF), (((_NAN, _ONE), (_ONE, _ONE)), 0, 0x7FFFFFFF),
    (((_ONE, _ONE), (_ONE, _ONE)), 0x7F800000, 0x7F800000),
    (((_ONE, _ONE), (_ONE, _ONE)), 0xFFC00000, 0x7FFFFFFF),
    (((_INF, _ONE), (_ONE, _ONE)), 0xFF800000, 0x7FFFFFFF), (((0, 0), (0, 0)), 0x80000000, 0),
    (((_MINUS, _ONE), (_MINUS, _ONE)), 0x80000000, 0), (((_ONE, _ONE), (_ONE | _MINUS, _ONE)), 0, 0),
)  # fmt: skip


def _special() -> Certificate:

    def result(pairs: tuple[tuple[int, int], ...], c: int) -> int:
        x, y = (
            Operand(np.array([pair[at] for pair in pairs], dtype=np.uint16), _float("f16")) for at in (0, 1)
        )
        addend = Operand(np.array(c, dtype=np.uint32), _float("f32"))
        model = DotAddModel(24, Rounding.TOWARD_ZERO)
        return int(NumpyAlgebra().dot_add(_float("f32"), model, x, y, addend))

    return answered({(pairs, c): result for pairs, c, result in SPECIAL}, result)


def _limits() -> Certificate:

    @refusal_is(False, UnsupportedError)
    def is_computed(model: Model, factors: str, result: str, products: int, of_scales: str) -> object:
        def zeros(name: str, count: int) -> Operand:
            bits: Array = np.zeros(count, dtype=_float(name).storage)
            return Operand(bits, _float(name))

        groups = products // model.group
        scales = (zeros(of_scales, groups), zeros(of_scales, groups)) if of_scales else None
        left, _, right = factors.partition("*")
        x, y, c = zeros(left, products), zeros(right or left, products), zeros("f32", 1)
        NumpyAlgebra().dot_add(_float(result), _specified(model), x, y, Operand(c.bits[0], c.format), scales)
        return True

    return answered({row[:-1]: row[-1] for row in LIMITS}, is_computed)


# -- instructions
class Steps(NamedTuple):
    """How a unit sums an element of D.

    Attributes
    ----------
    model : Model
        Of each step.
    products : tuple of range or tuple
        Which ones each step takes.
    emulated : bool
        Whether factors are widened to f16, sums begin with +0, and C is added last.
    """

    model: Model
    products: tuple[Sequence[int], ...]
    emulated: bool = False


_HALVES = tuple(tuple(k for k in range(32) if k // 2 % 2 == half) for half in (0, 1))

CHAINS: Mapping[tuple[str, str], Steps] = {
    ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "ampere"): Steps(
        Model(24, "toward-zero"), (range(8), range(8, 16))
    ),
    ("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "hopper"): Steps(
        Model(25, "toward-zero"), (range(16),)
    ),
    ("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", "ampere"): Steps(
        Model(24, "nearest-even"), (range(8), range(8, 16))
    ),
    ("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32", "ada"): Steps(
        Model(13, "toward-zero", 13), (range(16), range(16, 32))
    ),
    ("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32", "blackwell"): Steps(
        Model(25, "toward-zero"), (range(32),)
    ),
    ("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32", "hopper"): Steps(
        Model(25, "toward-zero"), _HALVES, emulated=True
    ),
    ("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", "blackwell-sm100"): Steps(
        Model(25, "toward-zero"), _HALVES, emulated=True
    ),
}
"""Steps of instructions on units: arXiv 2511.10909, and ptxas for what it emulates."""


def _chain(text: str, unit: str, steps: Steps) -> Certificate:
    d, a, b, _ = text.split(".")[-4:]
    k = sum(map(len, steps.products))
    codes = {
        name: np.array(list(stated.draws(kind, count, at + k, shape(kind).bias - 3)))
        for at, (name, kind, count) in enumerate((("a", a, 2 * k), ("b", b, 2 * k), ("c", d, 4)))
    }
    small = {name: codes[name] & (shape(kind).sign | (2 << shape(kind).fraction) - 1) for name, kind in
             (("a", a), ("b", b))}  # fmt: skip
    rows, columns = (np.where(np.arange(2 * k) % 3 == 0, small[n], codes[n]).reshape(2, k) for n in "ab")
    start = codes["c"].reshape(2, 2)

    def factor(kind: str, code: int) -> stated.Number:
        number = stated.number(kind, code)
        wide = int(np.float16(float(number.value) * (-1.0 if not number.value and number.negative else 1.0))
                   .view(np.uint16))  # fmt: skip
        return stated.number("f16", wide) if steps.emulated else number

    expected = {}
    for i, j in np.ndindex(2, 2):
        total = 0 if steps.emulated else int(start[i, j])
        for some in steps.products:
            pairs = [(factor(a, int(rows[i, at])), factor(b, int(columns[j, at]))) for at in some]
            total = stated.dot_add(steps.model, d, pairs, stated.number(d, total), [])
        if steps.emulated:
            last = stated.number(d, total).value + stated.number(d, int(start[i, j])).value
            total = rounded(d, last, "nearest-even") if last else 0
        expected[i, j] = total

    def specified() -> Mapping[tuple[int, int], int]:
        matrices = {
            "a_bits": np.zeros((16, k), dtype=_float(a).storage),
            "b_bits": np.zeros((k, 8), dtype=_float(b).storage),
            "c_bits": np.zeros((16, 8), dtype=_float(d).storage),
        }
        matrices["a_bits"][:2], matrices["b_bits"][:, :2] = rows, columns.T
        matrices["c_bits"][:2, :2] = start
        read = instruction_set("ptx").read(text)
        choices = [f"accumulation={unit}"]
        found = read.execute(matrices, as_registers=False, rounding=None, choices=choices)["d_bits"]
        return {at: int(found[at]) for at in np.ndindex(2, 2)}

    return compared(expected, specified)


THEOREMS = (dot_adds,)
