"""Products among each other: accumulators, biases, GEMV, accumulation in place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from ...spec.algebra import Algebra, Array
from ...spec.formats import F16, F32
from ...spec.pto import cube
from ...spec.pto.buffers import read, write
from ...spec.pto.catalogue import OPERATIONS, ROLE_LOCATIONS
from ...spec.pto.choices import ADDED_LAST, IN_PLACE, OPERAND, SEEDED, UNSPECIFIED, Choices, choices_of
from ...spec.pto.element_types import ELEMENT_TYPES
from ...spec.pto.placement import mover_placement
from ...spec.pto.sizes import SIZE_BITS, Sizes, operand_extents, sizes
from ...spec.pto.targets import A2A3, A5, CPU, Profile, alias
from ...spec.pto.tile import Tile
from ..families.block_products import added, power_of_two
from ..obligation import (
    Case,
    Equality,
    Equation,
    Inputs,
    Method,
    Property,
    RingProperty,
    Status,
    Theorem,
    Variable,
    immediate,
    theorem,
)
from .operands import (
    ADDED_LAST_CHOICES,
    ARBITRARY_CHOICES,
    SEEDED_CHOICES,
    WRAPPING,
    Formats,
    is_integer,
    multiplied,
    reading,
    typed,
    variables,
)

SOURCE = "pto-isa headers at 3186c381 (TMatmul, TGemv); pto-isa issue 280"

EXTENTS = (2, 3, 2)
"""m, k and n of small products."""


@theorem(
    "pto/product/accumulator",
    "an element of tmatmul.acc is C plus the element of tmatmul, on rows of a few products",
    "D(acc) = C + D(plain)",
    SOURCE,
)
def accumulator() -> Iterator[Case]:
    """Yield a proof modulo 2^32; for floats over the reals, in bits where C is added last, else refuted."""
    for name, formats in typed().items():
        if is_integer(formats):
            yield Case(name, partial(_accumulated, formats, SEEDED_CHOICES), choices=WRAPPING)
            continue
        for choices in (SEEDED_CHOICES, ADDED_LAST_CHOICES):
            order = choices.accumulation
            in_ring = partial(_accumulated_reals, formats, choices)
            yield Case(
                f"{name}/reals/{order}", in_ring, equality=Equality.VALUE, method=Method.STRUCTURAL,
                choices=reading(choices),
            )  # fmt: skip
            expect = Status.PROVED if order == ADDED_LAST else Status.REFUTED
            goal = partial(_accumulated, formats, choices)
            yield Case(f"{name}/bits/{order}", goal, expect, choices=reading(choices))


def _accumulated_claim(formats: Formats, choices: Choices, alg: Algebra, v: Inputs) -> Iterator[Equation]:
    sum_after = added(alg, v["c"], multiplied(alg, "", v, formats, choices), formats["d"])
    yield Equation(
        multiplied(alg, ".acc", v, formats, choices, start={"c": v["c"]}), sum_after, formats["d"], label="D"
    )


def _accumulated(formats: Formats, choices: Choices) -> Property:
    pinned = None
    if not is_integer(formats) and choices.accumulation == SEEDED:
        pinned = {**_ones(formats), "c": power_of_two(formats["d"], 24)}
    return Property(
        variables(formats, EXTENTS, "c"), partial(_accumulated_claim, formats, choices), pinned=pinned
    )


def _accumulated_reals(formats: Formats, choices: Choices) -> RingProperty:
    return RingProperty(variables(formats, EXTENTS, "c"), partial(_accumulated_claim, formats, choices))


def _ones(formats: Formats) -> dict[str, int]:
    return {role: power_of_two(formats[role], 0) for role in "ab"}


bias = Theorem(
    "pto/product/bias",
    "tmatmul.bias is tmatmul.acc with the bias row in every row of C, on a few rows, products and columns",
    "D(bias)[i, j] = D(acc with C[i, j] = bias[0, j])",
    SOURCE,
    lambda: (
        Case(
            f"{name}/{choices.accumulation}",
            partial(_bias, formats, choices),
            choices=reading(choices),
        )
        for name, formats in typed().items()
        for choices in (SEEDED_CHOICES, ADDED_LAST_CHOICES, ARBITRARY_CHOICES)
    ),
)


def _bias(formats: Formats, choices: Choices) -> Property:
    m, _, n = EXTENTS

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        rows = np.broadcast_to(v["bias"], (*v["bias"].shape[:-2], m, n))
        biased = multiplied(alg, ".bias", v, formats, choices, start={"bias": v["bias"]})
        accumulated = multiplied(alg, ".acc", v, formats, choices, start={"c": rows})
        yield Equation(biased, accumulated, formats["d"], label="D")

    return Property(variables(formats, EXTENTS, "bias"), claim)


@theorem(
    "pto/product/bias-order",
    "of a few products, bias first is bias last over the reals and for integers, not in f32 (pinned)",
    "D(seeded with the bias) = D(bias added last); in f32 2^24 + 1 + 1 is not",
    SOURCE,
)
def bias_order() -> Iterator[Case]:
    """Yield every types."""
    for name, formats in typed().items():
        if is_integer(formats):
            yield Case(name, partial(_bias_order, formats))
            continue
        goal = partial(_bias_order_reals, formats)
        yield Case(f"{name}/reals", goal, equality=Equality.VALUE, method=Method.STRUCTURAL)
        yield Case(f"{name}/bits", partial(_bias_order, formats), Status.REFUTED)


def _bias_order_claim(formats: Formats, alg: Algebra, v: Inputs) -> Iterator[Equation]:
    first, last = (
        multiplied(alg, ".bias", v, formats, choices, start={"bias": v["bias"]})
        for choices in (SEEDED_CHOICES, ADDED_LAST_CHOICES)
    )
    yield Equation(first, last, formats["d"], label="first = last")


def _bias_order(formats: Formats) -> Property:
    pinned = None if is_integer(formats) else {**_ones(formats), "bias": power_of_two(formats["d"], 24)}
    return Property(variables(formats, (1, 2, 1), "bias"), partial(_bias_order_claim, formats), pinned=pinned)


def _bias_order_reals(formats: Formats) -> RingProperty:
    return RingProperty(variables(formats, EXTENTS, "bias"), partial(_bias_order_claim, formats))


# -- on buffers
M, K, N = 3, 18, 17


def _tiles(profile: Profile, element: str, m: int, roles: str) -> dict[str, Tile]:
    """Return partly valid tiles by the profile's aliases, m, k and n rounded up to whole blocks."""
    used, whole = operand_extents(m, K, N), operand_extents(16, 32, 32)
    elements = {role: ELEMENT_TYPES["f32" if role in "cd" else element] for role in roles}
    return {
        role: alias(profile, ROLE_LOCATIONS[role], elements[role], whole[role], used[role]) for role in roles
    }


def _held(tile: Tile, profile: Profile, matrix: Array, filled: Array) -> Array:
    """Return a tile's buffer with a matrix where movers put it; what is elsewhere is all the same."""
    buffer = np.broadcast_to(filled, (*filled.shape[:-1], tile.rows * tile.columns))
    return write("operand", buffer, mover_placement(profile, tile, matrix.shape[-2:]), matrix)


gemv = Theorem(
    "pto/product/gemv",
    "tgemv is tmatmul with one row, each with A in the order that it takes, executed on f16 of 1 x 18 x 17",
    "D[0, j] of tgemv on a linear row = D[0, j] of tmatmul on fractals whose first row it is = "
    "f(A[0, :], B[:, j])",
    SOURCE,
    lambda: (
        Case(
            f"{profile}/tgemv{suffix}",
            partial(_gemv, profile, suffix),
            method=Method.STRUCTURAL,
            choices=f"accumulation={UNSPECIFIED}, k-tail=valid, unit-pitches=derived",
        )
        for profile in (A2A3, A5, CPU)
        for suffix in ("", ".acc")
    ),
)


_SOURCE = {"a": "a", "b": "b", "c": "c", "d": "c"}
"""What the buffer of a role holds before: the accumulator lies in the destination."""


def _gemv(profile: Profile, suffix: str) -> Property:
    choices = replace(choices_of(profile), accumulation=UNSPECIFIED)
    fractals = _tiles(profile, "f16", 1, "abcd")
    row = alias(profile, ROLE_LOCATIONS["a"], ELEMENT_TYPES["f16"], (1, 512), (1, K))
    formats = {"a": F16, "b": F16, "c": F32, "d": F32}

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        given = {"c": v["c"]} if suffix else {}
        expected = multiplied(alg, suffix, v, formats, choices, start=given)
        for stem, a in (("tgemv", row), ("tmatmul", fractals["a"])):
            operation = OPERATIONS[stem + suffix]
            tiles = {**fractals, "a": a}
            roles = (*operation.inputs, "d")
            buffers = {
                role: _held(tiles[role], profile, v[_SOURCE[role]], v["wide" if role in "cd" else "junk"])
                for role in roles
            }
            used = sizes(operation, profile, {"a": (1, K), "b": (K, N)})
            result = cube.multiply(
                alg, operation, profile, {role: tiles[role] for role in roles}, buffers, used, choices
            )
            place = mover_placement(profile, tiles["d"], (1, N))
            yield Equation(read("d", result, place, 1, N), expected, F32, label=stem)

    filled = (Variable("junk", F16, (1,)), Variable("wide", F32, (1,)))
    return Property((*variables(formats, (1, K, N), "c"), *filled), claim)


@theorem(
    "pto/product/gemv-sizes",
    "tgemv has the sizes of tmatmul if A is one row as long as B has rows; otherwise not (pinned)",
    "sizes(tgemv) = sizes(tmatmul), for every 16-bit valid extent",
    SOURCE,
)
def gemv_sizes() -> Iterator[Case]:
    """Yield every profile with the condition; the NPU profiles without it; and wrapped sizes."""
    for profile in (A2A3, A5, CPU):
        yield Case(str(profile), partial(_gemv_sizes, profile, conforming=True))
        if profile.cube:
            yield Case(
                f"any-extents/{profile}", partial(_gemv_sizes, profile, conforming=False), Status.REFUTED
            )
    yield Case(
        "wrapped", _wrapped_sizes, Status.REFUTED, statement="m, k and n are the valid extents, of any size"
    )


def _gemv_sizes(profile: Profile, *, conforming: bool) -> Property:
    fmt = immediate(SIZE_BITS)

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        one = alg.constant(1, fmt)[np.newaxis]
        rows, columns = (one, v["b_rows"]) if conforming else (v["a_rows"], v["a_columns"])
        valid = {"a": (rows, columns), "b": (v["b_rows"], v["b_columns"])}
        pair = (sizes(OPERATIONS[name], profile, valid) for name in ("tgemv", "tmatmul"))
        for label, gemv_size, matmul_size in zip("mkn", *pair, strict=True):
            left = one if isinstance(gemv_size, int) else gemv_size
            yield Equation(left, matmul_size, fmt, label=label)

    names = ("a_rows", "a_columns", "b_rows", "b_columns")
    pinned = dict(zip(names, (2, 16, 32, 16), strict=True))
    return Property(tuple(Variable(name, fmt, (1,)) for name in names), claim, pinned=pinned, abstract=False)


def _wrapped_sizes() -> Property:
    fmt = immediate(SIZE_BITS + 1)

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        found = sizes(OPERATIONS["tmatmul"], A5, {"a": (v["m"], v["k"]), "b": (v["k"], v["n"])})
        for label, size in zip("mkn", found, strict=True):
            yield Equation(size, v[label], fmt, label=label)

    pinned = {"m": 1 << SIZE_BITS, "k": 16, "n": 16}
    return Property(tuple(Variable(name, fmt, (1,)) for name in "mkn"), claim, pinned=pinned, abstract=False)


@theorem(
    "pto/product/in-place",
    "accumulation in place is that of cIn exactly where both are one tile, executed on f16 of 3 x 18 x 17",
    "D(adds to the destination's contents) = D(adds to cIn)",
    SOURCE,
)
def in_place() -> Iterator[Case]:
    """Yield one storage, in bits for any one order, over the reals for NPU's and CPU's; then two (pinned)."""
    for profile in (A2A3, A5):
        unspecified = f"accumulation={UNSPECIFIED}, k-tail=valid, unit-pitches=derived"
        goal = partial(_in_place, profile, one_storage=True)
        yield Case(f"{profile}/same", goal, method=Method.STRUCTURAL, choices=unspecified)
        yield Case(
            f"{profile}/separate",
            partial(_in_place, profile, one_storage=False),
            Status.REFUTED,
            choices=unspecified,
            statement="the same, where cIn and cOut are two tiles",
        )
        yield Case(
            f"{profile}/same-as-CPU",
            partial(_as_on_cpu, profile),
            equality=Equality.VALUE,
            method=Method.STRUCTURAL,
        )


def _executed(
    alg: Algebra, profile: Profile, v: Inputs, choices: Choices, d: Array, filled: tuple[Array, Array]
) -> Array:
    """Return D (…, m, n) of tmatmul.acc on buffers; `d` is what the destination holds before."""
    operation, tiles = OPERATIONS["tmatmul.acc"], _tiles(profile, "f16", M, "abcd")
    matrices = {**{role: v[role] for role in "abc"}, "d": d}
    buffers = {role: _held(tiles[role], profile, matrices[role], filled[role in "cd"]) for role in tiles}
    result = cube.multiply(alg, operation, profile, tiles, buffers, Sizes(M, K, N), choices)
    return read("d", result, mover_placement(profile, tiles["d"], (M, N)), M, N)


def _in_place(profile: Profile, *, one_storage: bool) -> Property:
    formats = {"a": F16, "b": F16, "c": F32, "d": F32}

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        destination = v["c"] if one_storage else v["p"]
        in_place, operand = (
            _executed(
                alg, profile, v, Choices(accumulation=UNSPECIFIED, accumulator_read=where), destination,
                (v["junk"], v["wide"]),
            )
            for where in (IN_PLACE, OPERAND)
        )  # fmt: skip
        yield Equation(in_place, operand, F32, label="D")

    filled = (Variable("junk", F16, (1,)), Variable("wide", F32, (1,)))
    others = ("c",) if one_storage else ("c", "p")
    return Property((*variables(formats, (M, K, N), *others), *filled), claim)


def _as_on_cpu(profile: Profile) -> RingProperty:
    formats = {"a": F16, "b": F16, "c": F32, "d": F32}

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        zeros = np.broadcast_to(alg.whole(0), (1,))
        on_unit, on_cpu = (
            _executed(alg, each, v, choices_of(each), v["c"], (zeros, zeros)) for each in (profile, CPU)
        )
        yield Equation(on_unit, on_cpu, F32, label="D")

    return RingProperty(variables(formats, (M, K, N), "c"), claim)


THEOREMS = (accumulator, bias, bias_order, gemv, gemv_sizes, in_place)
