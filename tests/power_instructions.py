"""Hypothesis strategies for Power MMA instructions."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from mmaproof.spec.power.forms import FORMS, Form
from mmaproof.spec.power.instructions import Instruction

forms = st.sampled_from(list(FORMS.values()))


def of_form(form: Form) -> SearchStrategy[Instruction]:
    """Instructions of a form with operands that have an encoding."""
    return st.tuples(*(st.sampled_from(operand.values) for operand in form.operands)).map(
        lambda values: Instruction(form, values)
    )


encodable = forms.flatmap(of_form)
"""Instructions that have an encoding, legal or not."""
