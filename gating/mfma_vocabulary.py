"""The words of MFMA tables: an instruction has other names on older targets."""

from __future__ import annotations

from ..spec.errors import InputError
from ..spec.instruction_set import instruction_set
from ..spec.mfma.catalogue import BY_NAME, ROWS
from ..spec.mfma.targets import TARGETS
from .vocabulary import Cells, Vocabulary

_ROWS = {row.name: row for row in ROWS}


class MfmaVocabulary(Vocabulary):
    """A form is the same under each of its names."""

    def read(self, text: str) -> Cells | None:
        """Return the columns of an instruction; None of a name that stands for two."""
        try:
            named = set(BY_NAME[self.isa.read(text).mnemonic].values())
        except InputError:
            return None
        return self.by_text[named.pop().name] if len(named) == 1 else None

    def as_of(self, text: str, target: str, version: str | None) -> str:
        """Return the name that a target has for a form."""
        return next(iter(_ROWS[text].names(TARGETS[target])), text)


VOCABULARY = MfmaVocabulary(instruction_set("mfma"))
