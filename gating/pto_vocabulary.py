"""The words of PTO tables: a product by its element types, at any extents that fill whole blocks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import product

from ..spec.errors import InputError, UnsupportedError
from ..spec.instruction_set import instruction_set
from ..spec.pto.catalogue import OPERATIONS, TYPE_TRIPLES, Operation, OperationKind, operation_named
from ..spec.pto.element_types import ELEMENT_TYPES
from ..spec.pto.targets import PROFILES, profile_named
from .vocabulary import NONE, Cells, Point, Vocabulary, matching_names

_EXTENT = 64
"""Rows and columns of a tile whose row does not state a shape: whole blocks of every element type."""

_TYPE_COLUMNS = ("d", "a", "b", "c", "scale_type")
_SCALE = "f8E8M0FNU"
_SPELLINGS: Mapping[str, str] = {
    spelling.lower(): element_type.name
    for element_type in ELEMENT_TYPES.values()
    for spelling in (element_type.name, *element_type.spellings)
}


def _products() -> list[Operation]:
    return [operation for operation in OPERATIONS.values() if operation.kind is not OperationKind.MOVE]


def _extents(cells: Cells, operation: Operation) -> Mapping[str, tuple[int, int]]:
    shape = cells.get("shape")
    match = re.fullmatch(r"m(\d+)n(\d+)k(\d+)", shape) if shape else None
    if shape and match is None:
        raise InputError(f"a product has m, n and k, unlike {shape!r}")
    m, n, k = map(int, match.groups()) if match else (_EXTENT, _EXTENT, _EXTENT)
    m = 1 if operation.kind is OperationKind.GEMV and match is None else m
    groups = -(-k // 32)
    return {
        "a": (m, k), "b": (k, n), "c": (m, n), "d": (m, n), "bias": (1, n),
        "scale_a": (m, groups), "scale_b": (groups, n),
    }  # fmt: skip


def _spell(cells: Cells) -> str:
    operation = operation_named(cells["instruction"])
    extents = _extents(cells, operation)
    d = cells.get("d", "f32")
    types = {
        "a": cells.get("a", "f16"), "b": cells.get("b", cells.get("a", "f16")), "d": d,
        "c": cells.get("c", d), "bias": d, "scale_a": cells.get("scale_type", _SCALE),
        "scale_b": cells.get("scale_type", _SCALE),
    }  # fmt: skip

    def tile(role: str) -> str:
        rows, columns = extents[role]
        return f"!pto.tile<{rows}x{columns}x{types[role]}>"

    operands = ", ".join(f"%{role}" for role in operation.inputs)
    listed = ", ".join(map(tile, operation.inputs))
    return f"%d = {operation} {operands} : ({listed}) -> {tile('d')}"


class PtoVocabulary(Vocabulary):
    """A statement has extents, which points have not: a text is not told by its columns."""

    free_columns = ("shape", "scale_type")
    modelled = f"of PTO, {', '.join(OPERATIONS)} are"

    @cached_property
    def points(self) -> Sequence[Point]:
        """Every product with every pair of element types."""
        found = []
        for operation, triple in product(_products(), TYPE_TRIPLES):
            if not (triple.microscaled if operation.microscaled else triple.plain):
                continue
            for a, b in product(triple.factors, repeat=2):
                cells = {
                    "instruction": operation.name, "a": a.name, "b": b.name, "d": triple.accumulator.name
                }  # fmt: skip
                cells["c"] = cells["d"] if operation.accumulates else NONE
                found.append(Point(_spell(cells), cells, "pto-isa headers at 3186c381 (TMatmul)"))
        return tuple(found)

    def normal(self, column: str, value: str) -> str:
        """Return the assembler's spelling of a value."""
        plain = value.strip()
        if column == "instruction":
            return self._operation(plain)
        if column in _TYPE_COLUMNS:
            return _SPELLINGS.get(plain.lower(), plain)
        return plain

    def completed(self, cells: Cells) -> Cells:
        """Return the cells with the operation."""
        return {"instruction": "tmatmul", **cells}

    def name_of(self, text: str) -> str:
        """Return the operation; of a text with several statements, that of the first."""
        names = "|".join(re.escape(name) for name in sorted(OPERATIONS, key=len, reverse=True))
        match = re.search(rf"(?:^|[\s=.])({names})\b", text.replace("_", "."), re.IGNORECASE)
        return self._operation(match[1] if match else text.strip()[:40])

    def _operation(self, name: str) -> str:
        try:
            return operation_named(name).name
        except InputError:
            raise UnsupportedError(f"{name!r} is not modelled; {self.modelled}") from None

    def in_full(self, text: str, *, alone: bool) -> bool:
        """Whether it has operands, or is all that is stated."""
        return alone or "%" in text

    def read(self, text: str) -> Cells | None:
        """Return None."""
        return None

    def spell(self, cells: Cells) -> str | None:
        """Return a statement with the given element types and extents."""
        return _spell(cells)

    def targets(self, value: str) -> tuple[str, ...]:
        """Return profiles, by a pattern or by what other tools call them."""
        if value.strip() in self.isa.targets:
            return (profile_named(value.strip()).name,)
        return matching_names(value.strip(), tuple(PROFILES), "profile")


VOCABULARY = PtoVocabulary(instruction_set("pto"))
