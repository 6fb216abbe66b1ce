"""Types, choices, layouts and arrays of PTO are those of the headers' tables and of the standards."""

from __future__ import annotations

from collections.abc import Iterator

from ...spec.formats import BF16, F16, F32, F64, FloatFormat, Format
from ...spec.pto.choices import choices_named
from ...spec.pto.element_types import ELEMENT_TYPES
from ...spec.pto.targets import PROFILES
from ..families.generic import generic_theorems


def _formats() -> list[Format]:
    return [entry.format for entry in ELEMENT_TYPES.values() if entry.format is not None]


def _steps() -> Iterator[tuple[FloatFormat, FloatFormat, FloatFormat]]:
    """Yield the steps of products; in f64 the simulator adds scaled ones."""
    yield from ((F16, F16, F32), (BF16, BF16, F32), (F32, F32, F32), (F64, F64, F64))


THEOREMS = generic_theorems("pto", _formats, lambda names: choices_named(names, PROFILES["A5"]), _steps)
