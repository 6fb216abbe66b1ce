"""What ``legal`` answers about an instruction or a whole text."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..spec.instruction_set import Judgement
from ..spec.legality import Note, NoteKind, Rule, Violation

SYNTAX: Rule[Any, Any] = Rule(
    "syntax", "the line is an instruction", "docs/command-line.md", lambda subject, target: ()
)
"""What a line read from standard input violates when it is no instruction at all."""


class LegalityAnswer(NamedTuple):
    """An answer.

    Attributes
    ----------
    instr : str
        The instruction, or what the text is called.
    judgement : Judgement
        What there is to say about it.
    """

    instr: str
    judgement: Judgement

    @property
    def legal(self) -> bool:
        """Whether no rule is violated."""
        return not self.judgement.violations

    @property
    def subject(self) -> str:
        """What is judged, for what."""
        return f"{self.instr} on {self.judgement.target}" if self.judgement.target else self.instr

    def document(self) -> dict[str, Any]:
        """Return the JSON document (``docs/schemas/legal.schema.json``)."""
        notes = {"notes": list(map(str, self.judgement.notes))} if self.judgement.notes else {}
        if self.judgement.undecided:
            notes["undecided"] = [f"{note.where}{note.text}" for note in self.judgement.undecided]
        return {
            "instr": self.instr,
            "target": self.judgement.target,
            "legal": self.legal,
            "violations": [
                {"rule": v.rule.id, "reason": v.rule.reason, "source": v.rule.source, "message": v.message}
                for v in self.judgement.violations
            ],
            **notes,
        }


def no_instruction(line: str, target: str | None, reason: str) -> LegalityAnswer:
    """Return the answer about a line that is no instruction."""
    return LegalityAnswer(line, Judgement(target or "", (Violation(SYNTAX, reason),)))


def not_modelled(line: str, target: str | None, reason: str) -> LegalityAnswer:
    """Return the answer about an instruction that is known, but not specified: no rule decides."""
    return LegalityAnswer(line, Judgement(target or "", (), (Note(NoteKind.UNDECIDED, reason),)))
