"""The built-ins of Power MMA, as Moreira et al. print them in Table II.

A is the accumulator, x, y, z and t are vectors, Q is a pair of vectors; u2, u4 and u8 are literals of so many
bits. The table's xvi4ger8[ppp] is written [pp], as in Table I: see the contradiction table-2-suffix.
"""

from __future__ import annotations

import re

from ...text_tables import rows

_TABLE_II = """
built-in                     | operands
assemble_acc                 | A x y z t
disassemble_acc              | x A
xxsetaccz                    | A
xxmfacc                      | A
xxmtacc                      | A
xvi16ger2[s][pp]             | A x y
pmxvi16ger2[s][pp]           | A x y u4 u4 u2
xvi8ger4[pp,spp]             | A x y
pmxvi8ger4[pp,spp]           | A x y u4 u4 u4
xvi4ger8[pp]                 | A x y
pmxvi4ger8[pp]               | A x y u4 u4 u8
xvbf16ger2[pp,np,pn,nn]      | A x y
pmxvbf16ger2[pp,np,pn,nn]    | A x y u4 u4 u2
xvf16ger2[pp,np,pn,nn]       | A x y
pmxvf16ger2[pp,np,pn,nn]     | A x y u4 u4 u2
xvf32ger[pp,np,pn,nn]        | A x y
pmxvf32ger[pp,np,pn,nn]      | A x y u4 u4
xvf64ger[pp,np,pn,nn]        | A Q y
pmxvf64ger[pp,np,pn,nn]      | A Q y u4 u2
"""


def _names(spelled: str) -> list[str]:
    """Return every name that brackets, each with one of its suffixes or none, stand for."""
    name, *brackets = re.split(r"[\[\]]+", spelled.rstrip("]"))
    names = [name]
    for suffixes in brackets:
        names = [known + suffix for known in names for suffix in ("", *suffixes.split(","))]
    return names


OPERANDS = {
    name: tuple(row["operands"].split()) for row in rows(_TABLE_II) for name in _names(row["built-in"])
}
"""Operands by built-in, without its ``__builtin_mma_``."""

VECTORS = {"A": 4, "Q": 2, "x": 1, "y": 1}
"""Vectors of 16 bytes that the operands have: a group of four, a pair, and one."""
