"""Power MMA programs for tests: from text, and random ones."""

from __future__ import annotations

from hypothesis import strategies as st
from power_instructions import of_form

from mmaproof.spec.power.assembly import parse
from mmaproof.spec.power.forms import FORMS, FixedPoint
from mmaproof.spec.power.instructions import Instruction

REGISTER_FORMS = [form for form in FORMS.values() if not isinstance(form.operation, FixedPoint)]

programs = st.lists(st.sampled_from(REGISTER_FORMS).flatmap(of_form), max_size=25)
"""Sequences of encodable instructions, most of which break rules."""


def program(text: str) -> list[Instruction]:
    """Read instructions that are separated by semicolons."""
    return [parse(part.strip()) for part in text.split(";")]
