"""Layouts of rank-k updates' operands in the notations of CuTe and Triton."""

from __future__ import annotations

from collections.abc import Iterator

from ...spec.power.catalogue import FAMILIES
from ..families.foreign_layouts import foreign_layouts


def _operands() -> Iterator[tuple[str, str]]:
    for family in FAMILIES:
        for operand in ("x", "y", "acc"):
            yield family.name, operand


THEOREMS = foreign_layouts("power", _operands)
