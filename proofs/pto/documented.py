"""Types, choices, layouts and arrays of PTO are those of the headers' tables and of the standards."""

from __future__ import annotations

from ...spec.formats import Format
from ...spec.pto.choices import choices_named
from ...spec.pto.element_types import ELEMENT_TYPES
from ...spec.pto.targets import PROFILES
from ..families.generic import generic_theorems


def _formats() -> list[Format]:
    return [entry.format for entry in ELEMENT_TYPES.values() if entry.format is not None]


THEOREMS = generic_theorems("pto", _formats, lambda names: choices_named(names, PROFILES["A5"]))
