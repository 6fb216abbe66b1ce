"""What mnemonics spell, and instructions that look like those of the manual's tables.

A mnemonic is legal exactly if it has the modifiers, types and layouts of one in the tables; in what order the
modifiers stand does not matter.

A combination has one value for each: None where nothing is spelled, or where the instruction has no such
thing. Of types and layouts the order counts, of modifiers it does not.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from itertools import product

from .products import KINDS, LAYOUTS, ROUNDINGS

TYPES = ("f16", "bf16", "tf32", "f32", "f64", "s8", "u8", "s4", "u4", "b1", "e4m3", "e5m2", "e3m2", "e2m3",
         "e2m1", "s32")  # fmt: skip
"""Element types of products."""

SHAPES = ("m8n8k4", "m8n8k16", "m8n8k32", "m8n8k128", "m16n8k4", "m16n8k8", "m16n8k16", "m16n8k32",
          "m16n8k64", "m16n8k128", "m16n8k256", "m16n16k16", "m8n32k16", "m32n8k16", "m16n16k8", "m8n8",
          "m16n16", "m8n16", "m16n8")  # fmt: skip
"""Shapes of any instruction."""

ACCUMULATORS = ("f16.f16", "f32.f32", "f32.f16", "f16.f32", "s32.s32", "f64.f64", "bf16.bf16")
"""Types of D and C."""

WARPGROUP_SHAPES = tuple(f"m64n{n}k{k}" for k in (8, 16, 32, 64, 256) for n in range(8, 257, 8))
"""Shapes of products of a warpgroup, and some that are none."""

_CLASSES = (
    SHAPES, (*TYPES, "b16", "b8"), ("row", "col"), ROUNDINGS, ("xor", "and"), ("x1", "x2", "x4"),
    tuple(f"kind::{kind}" for kind in KINDS), ("scale_vec::1X", "scale_vec::2X", "scale_vec::4X"),
    ("ue8m0", "ue4m3"), ("shared", "shared::cta", "global"), ("b6x16_p32", "b4x16_p64"),
)  # fmt: skip
"""Tokens of which one may stand for another."""

_FLAGS = (
    "satfinite",
    "trans",
    "block_scale",
    "rn",
    "kind::f8f6f4",
    "kind::mxf8f6f4",
    "scale_vec::1X",
    "shared",
)
"""Tokens that are added where they do not stand."""

_OPCODES = ("wmma.load.a", "wmma.load.b", "wmma.load.c", "wmma.store.d", "wmma.mma", "mma", "mma.sp",
            "mma.sp::ordered_metadata", "ldmatrix", "stmatrix", "movmatrix", "wgmma.mma_async",
            "wgmma.mma_async.sp", "wgmma.mma_async.sp::ordered_metadata", "wgmma.fence",
            "wgmma.commit_group", "wgmma.wait_group")  # fmt: skip

_ORDERED = frozenset((*_CLASSES[1], *_CLASSES[2], *_CLASSES[8], *_CLASSES[10], "b8x16"))

Meaning = tuple[str, frozenset[str], tuple[str, ...], tuple[str, ...]]
"""Opcode, modifiers, layouts and types."""


def split(mnemonic: str) -> tuple[str, list[str]]:
    """Return the opcode and the modifiers of a mnemonic."""
    opcode = max((name for name in _OPCODES if f"{mnemonic}.".startswith(f"{name}.")), key=len)
    return opcode, mnemonic[len(opcode) + 1 :].split(".")


def meaning(mnemonic: str) -> Meaning:
    """Return what a mnemonic says, in whatever order its modifiers stand."""
    opcode, tokens = split(mnemonic)
    layouts = tuple(token for token in tokens if token in _CLASSES[2])
    types = tuple(token for token in tokens if token in _ORDERED and token not in _CLASSES[2])
    return opcode, frozenset(token for token in tokens if token not in _ORDERED), layouts, types


def of(mnemonic: str) -> Iterator[str]:
    """Yield the mnemonics with one token of this one left out, or replaced by one that may stand for it."""
    opcode, tokens = split(mnemonic)
    yield from more_or_less(mnemonic)
    for place, token in enumerate(tokens):
        for others in _CLASSES:
            for other in others if token in others else ():
                if other != token:
                    yield ".".join([opcode, *tokens[:place], other, *tokens[place + 1 :]])


def more_or_less(mnemonic: str) -> Iterator[str]:
    """Yield the mnemonics with another opcode, with one token less, and with one more."""
    opcode, tokens = split(mnemonic)
    for other in _OPCODES:
        if other.partition(".")[0] == opcode.partition(".")[0] and other != opcode:
            yield ".".join([other, *tokens])
    for place, token in enumerate(tokens):
        if token not in ("xor", "and"):  # popc may not stand alone
            yield ".".join([opcode, *tokens[:place], *tokens[place + 1 :]])
    for flag in _FLAGS:
        if flag not in tokens:
            yield ".".join([opcode, *tokens, flag])


def representatives(mnemonics: Iterable[str]) -> list[str]:
    """Return one mnemonic for each set that only types within a group tell apart."""
    found: dict[object, str] = {}
    for mnemonic in mnemonics:
        opcode, modifiers, layouts, types = meaning(mnemonic)
        found.setdefault((opcode, modifiers, layouts, frozenset(types)), mnemonic)
    return list(found.values())


WARPGROUP = ("wgmma.mma_async", "wgmma.mma_async.sp", "wgmma.mma_async.sp::ordered_metadata")
PRODUCTS = ("wmma.mma", "mma", "mma.sp", "mma.sp::ordered_metadata", *WARPGROUP)
MOVED = (*TYPES, "b16", "b8")
EXPANDED = ("b6x16_p32", "b4x16_p64")
SCALE_TYPES = ("ue8m0", "ue4m3")

Combination = dict[str, Hashable]
"""What is spelled, by what it is about."""

_PAIRS = tuple(product(TYPES, TYPES))
_SUMMED = tuple(dict.fromkeys(".".join((*ACCUMULATORS, "tf32", "s8")).split(".")))
_LAYOUTS = ((), *((one,) for one in LAYOUTS), *product(LAYOUTS, LAYOUTS), ("row", "col", "row"))

DOMAIN: dict[str, tuple[Hashable, ...]] = {
    "shape": (None, *SHAPES, *WARPGROUP_SHAPES),
    "multiplicand-types": (None, *_PAIRS),
    "element-type": (
        None, (), *((element,) for element in MOVED), *product(("b8x16", "b16", "b8"), EXPANDED),
    ),
    "kind": (None, *KINDS, "f16", "tf32", "i8"),
    "block-scale": (None, ".block_scale"),
    "scale-vector": (None, "1X", "2X", "4X", "block16", "block32"),
    "scale-type": (None, *SCALE_TYPES),
    "accumulator-types": (None, *product(_SUMMED, _SUMMED)),
    "type-count": (None, 0, 1, 2, 3, 4, 5),
    "layout": _LAYOUTS,
    "satfinite": (None, ".satfinite"),
    "rounding": (None, *ROUNDINGS, "rna"),
    "bit-operation": (None, "xor", "and", "or"),
    "popc": (None, ".popc"),
    "metadata-variant": (None, "sp", "sp::ordered_metadata"),
    "transposition": (None, ".trans"),
    "count": (None, *(f"x{1 << power}" for power in range(8))),
    "state-space": (None, "global", "shared", "shared::cta", "shared::cluster", "local", "const", "param"),
}  # fmt: skip
"""Everything that may be spelled: what the syntax of matrix instructions has for any of them."""


def combination(mnemonic: str) -> Combination:
    """Return what a mnemonic spells."""
    opcode, tokens = split(mnemonic)
    types = [token for token in tokens if token in (*MOVED, "b8x16", *EXPANDED)]
    scale = [token for token in tokens if token in SCALE_TYPES]
    found: Combination = dict.fromkeys(DOMAIN)
    found["layout"] = tuple(token for token in tokens if token in LAYOUTS)
    found["shape"] = next((token for token in tokens if token in (*SHAPES, *WARPGROUP_SHAPES)), None)
    if opcode in PRODUCTS:
        found["scale-type"] = scale[0] if scale else None
        found["type-count"] = None if scale and len(types) != 4 else len(types)  # the fifth type is that one
        if opcode == "wmma.mma" and len(types) == 2:
            types = [types[0], "f16", "f16", types[1]]
        found |= _types_by_operand(opcode, types)
    else:
        found["element-type"] = tuple(types)
    if ".sp" in opcode:
        found["metadata-variant"] = opcode[opcode.index(".sp") + 1 :]
    for token in tokens:
        prefix, _, rest = token.rpartition("::")
        for name in ("block-scale", "satfinite", "popc", "transposition"):
            if f".{token}" in DOMAIN[name]:
                found[name] = f".{token}"
        for name in ("rounding", "bit-operation", "count", "state-space"):
            if token in DOMAIN[name]:
                found[name] = token
        if prefix == "kind":
            found["kind"] = rest
        if prefix == "scale_vec" or token in ("block16", "block32"):
            found["scale-vector"] = rest
    return found


def _types_by_operand(opcode: str, types: list[str]) -> Combination:
    if opcode in WARPGROUP and types:  # D is C
        multiplicands = (types[1], types[2]) if len(types) > 2 else None
        return {"accumulator-types": (types[0], types[0]), "multiplicand-types": multiplicands}
    if len(types) == 4:
        return {"accumulator-types": (types[0], types[3]), "multiplicand-types": (types[1], types[2])}
    return {}


def mnemonic(opcode: str, spelled: Combination) -> str | None:
    """Return a mnemonic that spells a combination; None where there is none, as of two types and no f16.

    ``.popc`` is part of a bit operation.
    """
    if spelled["popc"] and spelled["bit-operation"] is None:
        return None
    text = ".".join([opcode, "sync", "aligned", *_tokens(opcode, spelled)])
    return text if combination(text) == spelled else None


def _tokens(opcode: str, spelled: Combination) -> Iterator[str]:
    size = spelled["scale-vector"]
    for name in ("bit-operation", "popc", "shape", "layout", "count", "transposition", "state-space"):
        yield from _words(spelled[name])
    yield from (f"kind::{kind}" for kind in _words(spelled["kind"]))
    yield from _words(spelled["block-scale"])
    yield from (word if word.startswith("block") else f"scale_vec::{word}" for word in _words(size))
    for name in ("rounding", "satfinite", "element-type"):
        yield from _words(spelled[name])
    if opcode in PRODUCTS:
        (d, c), (a, b) = (
            _words(spelled[name]) or ("f32", "f32") for name in ("accumulator-types", "multiplicand-types")
        )
        two = (d, a) if opcode in WARPGROUP else (d, c)
        yield from {2: two, 3: (d, a, b), 5: (d, a, b, c, c), 1: (d,), 0: ()}.get(
            _number(spelled["type-count"]), (d, a, b, c)
        )
        yield from _words(spelled["scale-type"])


def _number(value: Hashable) -> int:
    return value if isinstance(value, int) else 4


def _words(value: Hashable) -> tuple[str, ...]:
    if isinstance(value, tuple):
        return value
    return () if value is None else (str(value).removeprefix("."),)


def saturated_before(text: str) -> str | None:
    """Return the PTX version that took ``.satfinite`` from a mnemonic of the tables, if it had it once."""
    opcode, tokens = split(text)
    return "6.5" if opcode == "wmma.mma" and tokens[-2:] in HALF_PRECISION else None


HALF_PRECISION = tuple([d, c] for d in ("f16", "f32") for c in ("f16", "f32"))
"""D and C of ``wmma.mma`` on f16, the last tokens of its mnemonics."""
