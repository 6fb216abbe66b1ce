"""Fused dot-adds of long batches and of parts of rows, with scale factors: against their definition."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import product

import numpy as np

from ...spec.algebra import Operand
from ...spec.dot_add import aligned_terms
from ...spec.dot_add_model import DotAddModel
from ...spec.formats import F32, as_float, format_named
from ...spec.instruction_set import instruction_set
from ...spec.matrix_product import dot_add_chain
from ...spec.numpy_algebra import NumpyAlgebra
from ...spec.rounding import Rounding
from ..comparison import compared
from ..obligation import Certificate
from ..stated import dot_add as stated
from ..stated.encodings import shape
from ..table_theorem import table_theorem

MODEL = stated.Model(25, "toward-zero")
_SPECIFIED = DotAddModel(25, Rounding.TOWARD_ZERO)

Pairs = list[tuple[stated.Number, stated.Number]]


parts = table_theorem(
    "ptx/stated/dot-add-parts",
    "sampled fused dot-adds of parts, of long batches and with scale factors are the sums of their terms",
    "a batch of addends, or of factors, longer than is computed at a time; rows in parts of 4 to 32 "
    "products, each scale factor serving 8; the products, exponents and weight of aligned terms; elements of "
    "block-scaled products on blackwell: each is the sum of its terms cut off, in fractions; sums that "
    "differ in a parameter have different names",
    "MMA-Sim, arXiv 2511.10909; PTX ISA 9.1 section 9.7.14.3",
    lambda: {
        **{f"batch/{name}": partial(_batch, name) for name in ("addends", "factors")},
        "parts": _parts,
        **{f"terms/{model.group}": partial(_terms, place) for place, model in enumerate(_ALIGNED)},
        **{text.partition("kind::")[2]: partial(_scaled, text) for text in SCALED},
    },
)


def _drawn(name: str, count: int, seed: int, shift: int = 0) -> list[int]:
    return list(stated.draws(name, count, seed, shape(name).bias + shift))


def _operand(name: str, codes: object) -> Operand:
    fmt = as_float(format_named(name))
    return Operand(np.array(codes, dtype=fmt.storage), fmt)


def _pairs(name: str, x: list[int], y: list[int]) -> Pairs:
    return [(stated.number(name, one), stated.number(name, other)) for one, other in zip(x, y, strict=True)]


_PRODUCTS, _LONG, _DIFFERENT = 64, 4099, 6


def _batch(what: str) -> Certificate:
    """Return the claim about a batch of so many elements that they are not all computed at a time."""
    x, y = _drawn("bf16", _PRODUCTS * _DIFFERENT, 5), _drawn("bf16", _PRODUCTS, 6)
    c = _drawn("f32", _DIFFERENT, 7, 4)
    rows = [x[_PRODUCTS * at :][:_PRODUCTS] for at in range(_DIFFERENT)]
    chosen = [(rows[0 if what == "addends" else at], c[at if what == "addends" else 0])
              for at in range(_DIFFERENT)]  # fmt: skip
    few = [
        stated.dot_add(MODEL, "f32", _pairs("bf16", row, y), stated.number("f32", start), [])
        for row, start in chosen
    ]
    expected = {"all": [few[at % _DIFFERENT] for at in range(_LONG)]}

    def specified() -> Mapping[str, list[int]]:
        repeated = np.arange(_LONG) % _DIFFERENT
        factors = np.array(rows)[repeated] if what == "factors" else np.array(rows[0])
        addends = np.array(c)[repeated] if what == "addends" else np.array(c[0])
        found = NumpyAlgebra().dot_add(
            F32, _SPECIFIED, _operand("bf16", factors), _operand("bf16", y), _operand("f32", addends)
        )
        return {"all": found.tolist()}

    return compared(expected, specified)


_SERVED, _ROW = 8, 32


def _parts() -> Certificate:
    """Return the claim about rows in parts, which have one scale factor or some of them."""
    x, y, (c,) = _drawn("e4m3", _ROW, 1), _drawn("e4m3", _ROW, 2), _drawn("f32", 1, 3, 3)
    p, q = (_drawn("ue8m0", _ROW // _SERVED, seed) for seed in (4, 5))
    pairs = _pairs("e4m3", x, y)
    factors = [pair for pair in _pairs("ue8m0", p, q) for _ in range(_SERVED)]
    expected = {}
    for length in (4, 8, 16, 32):
        total = c
        for start in range(0, _ROW, length):
            some = slice(start, start + length)
            total = stated.dot_add(MODEL, "f32", pairs[some], stated.number("f32", total), factors[some])
        expected[length] = total

    kinds = [
        DotAddModel(*fields)
        for fields in product((24, 25), Rounding, (None, 13), (1, 2, 4), (False, True), (False, True))
    ]

    def specified(length: int) -> int:
        slices = [slice(start, start + length) for start in range(0, _ROW, length)]
        scales = _operand("ue8m0", p), _operand("ue8m0", q)
        total = dot_add_chain(
            NumpyAlgebra(), _SPECIFIED, slices, _operand("e4m3", x), _operand("e4m3", y), _operand("f32", c),
            scales,
        )  # fmt: skip
        return int(total.bits)

    sums = {str(length): total for length, total in expected.items()}
    return compared(
        {**sums, "names": len(kinds)},
        lambda: {**{str(length): specified(length) for length in expected}, "names": len({*map(str, kinds)})},
    )


_ALIGNED: tuple[stated.Model, ...] = (
    stated.Model(24, "toward-zero"),
    stated.Model(35, "toward-zero", group=4),
)


def _terms(place: int) -> Certificate:
    """Return the claim about the terms that a step is shown to add."""
    model, count = _ALIGNED[place], 8
    x, y, (c,) = _drawn("e2m1", count, 11), _drawn("e2m1", count, 12), _drawn("f32", 1, 13, 1)
    p, q = (_drawn("ue8m0", count // model.group, seed) for seed in (14, 15))
    scales = [(left.value * right.value, left.exponent + right.exponent)
              for left, right in _pairs("ue8m0", p, q)]  # fmt: skip
    pairs = _pairs("e2m1", x, y)
    values, exponents = [], []
    for at, (scale, above) in enumerate(scales):
        some = pairs[at * model.group :][: model.group]
        values.append(float(scale * sum(left.value * right.value for left, right in some)))
        of_factors = some[0][0].exponent + some[0][1].exponent if model.group == 1 else 0
        exponents.append(of_factors + above)
    addend = stated.number("f32", c)
    counted = [exponent for value, exponent in zip(values, exponents, strict=True) if value]
    weight = 2.0 ** (model.fraction - max(*counted, addend.exponent))
    kept = [exponent if value else None for value, exponent in zip(values, exponents, strict=True)]
    expected: dict[str, object] = {
        "terms": values, "exponents": kept, "addend": (float(addend.value), addend.exponent),
        "weight": weight,
    }  # fmt: skip

    def specified() -> Mapping[str, object]:
        operands = [_operand("e2m1", x), _operand("e2m1", y), _operand("ue8m0", p), _operand("ue8m0", q)]
        read = DotAddModel(model.fraction, Rounding.TOWARD_ZERO, group=model.group)
        terms, last, found = aligned_terms(read, operands, _operand("f32", c))
        shown = [int(e) if v else None for v, e in zip(terms.values, terms.exponents, strict=True)]
        return {
            "terms": terms.values.tolist(), "exponents": shown,
            "addend": (float(last.values), int(last.exponents)), "weight": float(found),
        }  # fmt: skip

    return compared(expected, specified)


_MMA = "mma.sync.aligned"
SCALED: dict[str, tuple[stated.Model, int]] = {
    f"{_MMA}.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e5m2.f32.ue8m0": (MODEL, 1),
    f"{_MMA}.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0": (
        stated.Model(35, "toward-zero", group=16), 2,
    ),
    f"{_MMA}.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3": (
        stated.Model(35, "toward-zero", group=16), 4,
    ),
}  # fmt: skip
"""Block-scaled products: the one step of an element on blackwell, and how many scale factors a row has."""


def _scaled(text: str) -> Certificate:
    model, factors = SCALED[text]
    *_, a, b, d, of_scales = text.split(".")
    k = 64 if "k64" in text else 32
    rows, columns = (
        np.array(_drawn(name, 2 * k, seed)).reshape(2, k) for seed, name in enumerate((a, b), 21)
    )
    starts = np.array(_drawn(d, 4, 23, 2)).reshape(2, 2)
    p, q = (np.array(_drawn(of_scales, 2 * factors, seed)).reshape(2, factors) for seed in (24, 25))
    terms = k // model.group
    expected = {}
    for i, j in np.ndindex(2, 2):
        pairs = [
            (stated.number(a, int(x)), stated.number(b, int(y)))
            for x, y in zip(rows[i], columns[j], strict=True)
        ]
        scales = [
            (stated.number(of_scales, int(p[i, at * factors // terms])),
             stated.number(of_scales, int(q[j, at * factors // terms])))
            for at in range(terms)
        ]  # fmt: skip
        expected[i, j] = stated.dot_add(model, d, pairs, stated.number(d, int(starts[i, j])), scales)

    def specified() -> Mapping[tuple[int, int], int]:
        one = shape(of_scales).bias << shape(of_scales).fraction
        extents = {"a": (16, k), "b": (k, 8), "c": (16, 8), "scale_a": (16, factors), "scale_b": (factors, 8)}
        types = {"a": a, "b": b, "c": d, "scale_a": of_scales, "scale_b": of_scales}
        given = {
            name: np.full(extent, one if "scale" in name else 0, dtype=format_named(types[name]).storage)
            for name, extent in extents.items()
        }
        given["a"][:2], given["b"][:, :2], given["c"][:2, :2] = rows, columns.T, starts
        given["scale_a"][:2], given["scale_b"][:, :2] = p, q.T
        found = instruction_set("ptx").read(text).execute(
            {f"{name}_bits": bits for name, bits in given.items()}, as_registers=False, rounding=None,
            choices=["accumulation=blackwell"],
        )["d_bits"]  # fmt: skip
        return {at: int(found[at]) for at in np.ndindex(2, 2)}

    return compared(expected, specified)


THEOREMS = (parts,)
