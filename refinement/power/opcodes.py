"""The instructions that the reader of object code knows, with whether each can be verified."""

from __future__ import annotations

from types import MappingProxyType

from .image.fixed_point_forms import BRANCHES, FIXED_POINT, STORAGE
from .image.instruction_forms import forms, mnemonics
from .image.vector_forms import FLOATING_POINT, VECTOR, VECTOR_SCALAR
from .instruction_set import HANDLERS

_SECTIONS = MappingProxyType(
    {
        "2 branches and conditions": BRANCHES,
        "3.3 fixed-point arithmetic": FIXED_POINT,
        "3.3, 4.6, 6.7, 7.6 loads, stores and moves": STORAGE,
        "4.6 floating-point": FLOATING_POINT,
        "6 vectors": VECTOR,
        "7.6 vector-scalar": VECTOR_SCALAR,
    }
)
"""Sections of Power ISA 3.1 Book I, and the tables of their instructions."""

_MATRICES = "7.2 Matrix-Multiply Assist"
_WITHOUT_EFFECT = ("dcbt", "dcbtst", "sync", "isync", "eieio")
_LIMITS = MappingProxyType(
    {
        "mtspr": "LR, CTR and VRSAVE",
        "mfspr": "LR, CTR and VRSAVE",
        "sync": "one thread runs",
        "bcctrl": "to code of the file, memcpy, memmove, memset and functions of <math.h>",
        "bl": "to code of the file, memcpy, memmove, memset and functions of <math.h>",
        "mulhd": "of known values",
        "mulhdu": "of known values",
        "divd": "of known values",
        "divdu": "of known values",
        "divw": "of known values",
        "divwu": "of known values",
        "vperm": "with a known control",
        "vpermr": "with a known control",
        "xxperm": "with a known control",
        "xxpermr": "with a known control",
        "xxpermx": "with a known control",
        "fadds": "of numbers in single precision, as all others that round to it",
    }
)
"""Of an instruction that is modelled in part: what part."""


def _status(name: str) -> str:
    if name in _WITHOUT_EFFECT:
        return "ignored: no effect on values"
    return "modelled" if name in HANDLERS else "unsupported"


def opcode_rows() -> list[dict[str, str]]:
    """Return one row for each instruction: what becomes of it."""
    sections = {name: title for title, table in _SECTIONS.items() for name in mnemonics(table)}
    return [
        {
            "opcode": name,
            "operands": form.syntax,
            "status": _status(name),
            "limits": _LIMITS.get(name, ""),
            "source": f"Power ISA 3.1 {sections.get(name, _MATRICES)}",
        }
        for name, form in forms().items()
    ]
