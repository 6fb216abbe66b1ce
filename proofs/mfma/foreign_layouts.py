"""Layouts of MFMA's operands in the notations of CuTe and Triton."""

from __future__ import annotations

from collections.abc import Iterator

from ..families.foreign_layouts import foreign_layouts
from .layouts import shapes


def _operands() -> Iterator[tuple[str, str]]:
    for row in shapes().values():
        for operand in "abd":
            yield str(row), operand


THEOREMS = foreign_layouts("mfma", _operands)
