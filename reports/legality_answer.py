"""What ``legal`` answers about an instruction or a whole text."""

from __future__ import annotations

from html import escape
from typing import Annotated, Any, NamedTuple, NotRequired, TypedDict

from ..spec.instruction_set import Judgement
from ..spec.json_fields import Keyword, Some
from ..spec.legality import Note, NoteKind, Rule, Violation
from .notebook import heading, table

SYNTAX: Rule[Any, Any] = Rule(
    "syntax", "the line is an instruction", "docs/command-line.md", lambda subject, target: ()
)
"""What a line read from standard input violates when it is no instruction at all."""


class ViolationDocument(TypedDict):
    """A rule that an instruction breaks.

    Attributes
    ----------
    rule : str
        Its stable name.
    reason : str
        The rule, in one line.
    source : str
        Where it is stated.
    message : str
        What is wrong, with the offending values.
    """

    rule: str
    reason: str
    source: str
    message: str


class AnswerDocument(TypedDict):
    """What `legal --json` prints, and each line that `legal -` writes.

    Attributes
    ----------
    instr : str
        The instruction; of a file its name, of a whole text on standard input -.
    target : str
        The processor.
    legal : bool, optional
        False where a rule is broken; None where none is, but not all that was asked about is judged.
    violations : list of ViolationDocument
        The rules that are.
    notes : list of str
        What was filled in, what can't be decided, who objects without making it illegal; absent when there
        is nothing to say.
    undecided : list of str
        Those of the notes that tell what is not judged, or can't be decided: with them, no rule is known to
        be broken; absent when everything is decided.
    """

    instr: str
    target: str
    legal: bool | None
    violations: list[ViolationDocument]
    notes: NotRequired[Some[str]]
    undecided: NotRequired[Some[str]]


ConsistentAnswer = Annotated[
    AnswerDocument,
    Keyword("if", {"properties": {"legal": {"const": False}}}),
    Keyword("then", {"properties": {"violations": {"minItems": 1}}}),
    Keyword("else", {"properties": {"violations": {"maxItems": 0}}}),
    Keyword(
        "allOf",
        [{"if": {"properties": {"legal": {"const": None}}}, "then": {"required": ["undecided"]}}],
    ),
]
"""An answer that is illegal exactly where a rule is broken, and null only where something is undecided."""


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
    def legal(self) -> bool | None:
        """False where a rule is violated; None where none is, but not all that was asked about is judged."""
        if self.judgement.violations:
            return False
        return True if self.judgement.is_judged else None

    @property
    def word(self) -> str:
        """The answer in a word."""
        return {True: "legal", False: "illegal", None: "undecided"}[self.legal]

    @property
    def subject(self) -> str:
        """What is judged, for what."""
        return f"{self.instr} on {self.judgement.target}" if self.judgement.target else self.instr

    def _repr_html_(self) -> str:
        broken = (
            (str(v.rule.id), v.message, f"{v.rule.reason} ({v.rule.source})")
            for v in self.judgement.violations
        )
        rules = "" if not self.judgement.violations else table(("rule", "what is wrong", "why"), broken)
        notes = "".join(f"<p>note: {escape(str(note))}</p>" for note in self.judgement.notes)
        title = heading(f"{self.word} on {self.judgement.target}" if self.judgement.target else self.word)
        return f"{title}<code>{escape(self.instr)}</code>{rules}{notes}"

    def document(self) -> AnswerDocument:
        """Return the JSON document."""
        document: AnswerDocument = {
            "instr": self.instr,
            "target": self.judgement.target,
            "legal": self.legal,
            "violations": [
                {"rule": v.rule.id, "reason": v.rule.reason, "source": v.rule.source, "message": v.message}
                for v in self.judgement.violations
            ],
        }
        if self.judgement.notes:
            document["notes"] = list(map(str, self.judgement.notes))
        if self.judgement.undecided:
            document["undecided"] = [f"{note.where}{note.text}" for note in self.judgement.undecided]
        return document


def no_instruction(line: str, target: str | None, reason: str) -> LegalityAnswer:
    """Return the answer about a line that is no instruction."""
    return LegalityAnswer(line, Judgement(target or "", (Violation(SYNTAX, reason),)))


def not_modelled(line: str, target: str | None, reason: str) -> LegalityAnswer:
    """Return the answer about an instruction that is known, but not specified: no rule decides."""
    return LegalityAnswer(line, Judgement(target or "", (), (Note(NoteKind.NOT_JUDGED, reason),)))
