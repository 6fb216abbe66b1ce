"""The words of Power MMA tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from ..spec.instruction_set import instruction_set
from ..spec.power.forms import FORMS, Form
from .vocabulary import NO, YES, Cells, Point, Vocabulary


def _cells(form: Form) -> Cells:
    cells = {"instruction": form.mnemonic}
    if form.update:
        family = form.update.family
        cells |= {
            "shape": f"m4n{family.columns}k{family.rank}",
            "a": str(family.x),
            "b": str(family.y),
            "c": str(family.result),
            "d": str(family.result),
            "satfinite": YES if form.update.saturates else NO,
        }
    return cells


class PowerVocabulary(Vocabulary):
    """Types and rank are in the mnemonic, so there is no wrong spelling."""

    modelled = "of Power, the MMA instructions are"

    @cached_property
    def points(self) -> Sequence[Point]:
        """Every form."""
        return tuple(
            Point(form.mnemonic, _cells(form), f"Power ISA {form.isa} Book I") for form in FORMS.values()
        )

    def spells_target(self, value: str) -> bool:
        """Whether it is a processor, such as ``pwr9`` or ``power_10``."""
        return re.match(r"\s*(pwr|power_?)\d", value) is not None

    def target_name(self, value: str) -> str:
        """Return a processor as ``-mcpu`` spells it."""
        return re.sub(r"^(pwr|power_?)(?=\d)", "power", value.strip().lower())


VOCABULARY = PowerVocabulary(instruction_set("power"))
