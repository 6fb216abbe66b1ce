"""Layouts of tiles in the notations of other tools are read as they are meant."""

from __future__ import annotations

from ..families.notations import notations

THEOREMS = (notations("pto"),)
