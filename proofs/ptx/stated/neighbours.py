"""Instructions that look like those of the manual's tables, and what a mnemonic means.

A mnemonic is legal exactly if it has the modifiers, types and layouts of one in the tables; in what order the
modifiers stand does not matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .products import KINDS, ROUNDINGS

TYPES = ("f16", "bf16", "tf32", "f32", "f64", "s8", "u8", "s4", "u4", "b1", "e4m3", "e5m2", "e3m2", "e2m3",
         "e2m1", "s32")  # fmt: skip
"""Element types of products."""

SHAPES = ("m8n8k4", "m8n8k16", "m8n8k32", "m8n8k128", "m16n8k4", "m16n8k8", "m16n8k16", "m16n8k32",
          "m16n8k64", "m16n8k128", "m16n8k256", "m16n16k16", "m8n32k16", "m32n8k16", "m16n16k8", "m8n8",
          "m16n16", "m8n16", "m16n8")  # fmt: skip
"""Shapes of any instruction."""

ACCUMULATORS = ("f16.f16", "f32.f32", "f32.f16", "f16.f32", "s32.s32", "f64.f64", "bf16.bf16")
"""Types of D and C."""

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
            "mma.sp::ordered_metadata", "ldmatrix", "stmatrix", "movmatrix")  # fmt: skip

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
