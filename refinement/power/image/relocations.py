"""Relocation of unlinked Power objects.

Source: Power Architecture 64-bit ELF V2 ABI, version 1.4, table 3.19.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from .program import Section

_NO_EFFECT = {0: "NONE", 109: "TOCSAVE", 118: "ENTRY", 119: "PLTSEQ", 120: "PLTCALL", 123: "PCREL_OPT",
              121: "PLTSEQ_NOTOC", 122: "PLTCALL_NOTOC"}  # fmt: skip
"""Relocations that only tell a linker what it may change."""

GOT_RELOCATIONS = frozenset({133, 134, 135})
"""Those whose value is a slot of the table that holds the symbol's address: GOT_PCREL34, PLT_PCREL34."""


@dataclass(frozen=True)
class Relocation:
    """A relocation: a place, and the value to store there.

    Attributes
    ----------
    kind : int
        Its number in the ABI.
    offset : int
        Where in the section.
    value, addend : int
        The symbol's address, and what is added.
    toc : int
        The address in the register of the table of contents.
    local_entry : int
        Bytes from the symbol's global to its local entry point.
    """

    kind: int
    offset: int
    value: int
    addend: int
    toc: int
    local_entry: int


@dataclass(frozen=True)
class _Field:
    """Where the bits go: in a word of `size` bytes those of a mask, of a value shifted to the right."""

    base: str
    size: int
    mask: int
    shift: int = 0
    adjusted: bool = False


_HALF = 0xFFFF
_FIELDS: Mapping[int, _Field] = MappingProxyType(
    {
        1: _Field("absolute", 4, (1 << 32) - 1),
        38: _Field("absolute", 8, (1 << 64) - 1),
        26: _Field("relative", 4, (1 << 32) - 1),
        44: _Field("relative", 8, (1 << 64) - 1),
        10: _Field("branch", 4, 0x3FFFFFC),
        116: _Field("branch", 4, 0x3FFFFFC),
        11: _Field("branch", 4, 0xFFFC),
        47: _Field("toc", 2, _HALF),
        48: _Field("toc", 2, _HALF),
        49: _Field("toc", 2, _HALF, 16),
        50: _Field("toc", 2, _HALF, 16, True),
        63: _Field("toc", 2, 0xFFFC),
        64: _Field("toc", 2, 0xFFFC),
        4: _Field("absolute", 2, _HALF),
        5: _Field("absolute", 2, _HALF, 16),
        6: _Field("absolute", 2, _HALF, 16, True),
        249: _Field("relative", 2, _HALF),
        250: _Field("relative", 2, _HALF),
        251: _Field("relative", 2, _HALF, 16),
        252: _Field("relative", 2, _HALF, 16, True),
    }
)
_PREFIXED = (132, *sorted(GOT_RELOCATIONS))
"""PCREL34 and those with its field: 18 bits in the prefix, 16 in the suffix."""


def relocate(section: Section, relocation: Relocation) -> str:
    """Apply a relocation; returns why it can't be, else nothing."""
    kind, at = relocation.kind, relocation.offset
    if kind in _NO_EFFECT:
        return ""
    place = section.address + at
    target = relocation.value + relocation.addend
    if kind in _PREFIXED:
        if not 0 <= at <= len(section.data) - 8:
            return "a relocation outside of its section"
        distance = target - place
        _put(section, at, 4, 0x3FFFF, distance >> 16)
        _put(section, at + 4, 4, _HALF, distance)
        return ""
    field = _FIELDS.get(kind)
    if field is None:
        return f"relocation {kind}, which is not supported,"
    if not 0 <= at <= len(section.data) - field.size:
        return "a relocation outside of its section"
    match field.base:
        case "branch":
            value = target + relocation.local_entry - place
            reach = field.mask >> 1
            if not -reach - 2 <= value <= reach:
                return "a branch too far"
        case "relative":
            value = target - place
        case "toc":
            value = target - relocation.toc
        case _:
            value = target
    if field.adjusted:
        value += 0x8000
    _put(section, at, field.size, field.mask, value >> field.shift)
    return ""


def _put(section: Section, at: int, size: int, mask: int, value: int) -> None:
    old = int.from_bytes(section.data[at : at + size], "little")
    new = (old & ~mask) | (value & mask)
    section.data[at : at + size] = new.to_bytes(size, "little")
