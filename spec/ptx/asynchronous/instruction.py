"""An asynchronous instruction as users ask about it: judged and explained."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...algebra import Array
from ...element_table import ElementTable
from ...errors import InputError, UnsupportedError
from ...instruction_set import Description, Judgement, described
from ...legality import Note, NoteKind
from ..legality import Module
from ..operands import Predicate
from ..special_registers import PREDEFINED
from ..targets import NEWEST, TARGETS, spell_version, target_named, version_named
from . import legality
from .catalogue import ROWS, is_judged, later_words
from .legality import Asynchronous
from .leniency import objections
from .operands import read_operands
from .rows import Form, Row

if TYPE_CHECKING:
    from ...operand_arrays import Observer

_WRITTEN = re.compile(
    r"\s*(?:@\s*(?P<negated>!?)\s*(?P<guard>[\w$%]+)\s+)?"
    r"(?P<mnemonic>[a-z]\w*(?:\s*\.\s*(?:\w|::)+)*)(?P<operands>.*)",
    re.ASCII | re.DOTALL,
)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def read(text: str, declarations: Mapping[str, str] | None = None) -> AsynchronousInstruction | None:
    """Read an asynchronous instruction; None where the rows say nothing of the opcode.

    Raises
    ------
    InputError
        If what stands behind the mnemonic is no list of operands.
    """
    written = _WRITTEN.fullmatch(_COMMENT.sub(" ", text))
    if written is None:
        return None
    mnemonic = re.sub(r"\s", "", written["mnemonic"])
    if not is_judged(mnemonic):
        return None
    names = declarations or PREDEFINED
    guard = written["guard"]
    predicate = Predicate(guard, bool(written["negated"]), names.get(guard)) if guard else None
    return AsynchronousInstruction(
        Asynchronous(mnemonic, read_operands(written["operands"], names), predicate)
    )


@dataclass(frozen=True)
class AsynchronousInstruction:
    """An asynchronous instruction; see `Instruction`.

    Attributes
    ----------
    written : Asynchronous
        As it is written.
    """

    written: Asynchronous

    @property
    def mnemonic(self) -> str:
        """Its name."""
        return self.written.mnemonic

    @property
    def _newest_target(self) -> str:
        """Hopper's target, or one that has a form that it lacks."""
        if later_words(self.mnemonic):
            return "sm_120a"
        if not self.mnemonic.startswith("tcgen05"):
            return "sm_90a"
        form = self.written.form
        lacking = form is not None and not form.available.on(TARGETS["sm_100a"])
        return "sm_103a" if lacking else "sm_100a"

    def legal(self, target: str | None = None, version: str | None = None) -> Judgement:
        """Judge it in a module of a target (by default one that has the form) and version."""
        chosen = target_named(target or self._newest_target)
        module = Module(chosen, NEWEST if version is None else version_named(version))
        wrong = legality.violations(self.written, module)
        notes = objections(self.written, wrong)
        if not wrong and (words := later_words(self.mnemonic)):
            notes = (Note(NoteKind.NOT_JUDGED, f"{self.mnemonic}: forms with .{words[0]} are not specified"),)
        return Judgement(chosen.name, tuple(wrong), notes)

    def _form(self) -> Form:
        """Return the form.

        Raises
        ------
        InputError
            If it is legal nowhere.
        """
        form = self.written.form
        wrong = legality.violations(self.written, Module(TARGETS[self._newest_target], NEWEST))
        if not wrong and (words := later_words(self.mnemonic)):
            raise UnsupportedError(f"{self.mnemonic}: forms with .{words[0]} are not specified")
        if form is None or wrong:
            raise InputError(f"{self.mnemonic} is illegal: {'; '.join(map(str, wrong))}")
        return form

    def laid_out(self, target: str | None = None) -> tuple[str, ...]:
        """Return nothing: layouts are those of the boxes of a tensor map, which has to be said."""
        self._form()
        return ()

    def layout(self, operand: str, target: str | None = None) -> ElementTable:
        """Return where a tensor copy's box is in shared memory: ``dstMem element=f16 box=64x8 swizzle=128``.

        Of stores and reductions the operand is ``srcMem``.

        Raises
        ------
        InputError
            If it is no such operand, or what follows no tensor map.
        UnsupportedError
            Of other instructions, and of boxes for which no document says how they lie.
        """
        from .box_table import box_table

        form = self._form()
        name, _, fields = operand.partition(" ")
        names = [place.name for place in form.places if place.name in ("dstMem", "srcMem")]
        if not form.rank or not names or not form.row.effect:
            raise UnsupportedError(f"{form.mnemonic} has no operand that has a layout")
        if name not in names or not fields:
            raise InputError(
                f"{form.mnemonic} has the operand {names[0]}, with a tensor map: "
                f"'{names[0]} element=f16 box=64x8 swizzle=128 start=0x400', not {operand[:60]!r}"
            )
        return box_table(f"{name} of {form.mnemonic}", fields, form.rank)

    def execute(
        self,
        arrays: Mapping[str, Array],
        *,
        as_registers: bool,
        rounding: str | None,
        choices: Sequence[str],
        target: str | None = None,
        observer: Observer | None = None,
    ) -> dict[str, Array]:
        """Refuse: what it does depends on what other threads do."""
        raise UnsupportedError(
            f"{self._form().mnemonic} acts together with other threads: it is not executed alone"
        )

    def formula(self, target: str | None = None) -> tuple[str, ...]:
        """Return what it does."""
        form = self._form()
        if not form.row.effect:
            raise UnsupportedError(f"{form.mnemonic}: what it does is not specified here")
        return form.row.effect

    def row(self) -> dict[str, str]:
        """Return its row of the table ``asynchronous``."""
        return row_of(self._form().row)

    def describe(self) -> Description:
        """Say what it means and what constrains it."""
        form = self._form()
        rules = (f"{rule.id}: {rule.reason} ({rule.source})" for rule in legality.RULES)
        effect = form.row.effect or ("not specified here",)
        sections = {"Operands": tuple(map(str, form.places)), "Semantics": effect}
        return described(form.mnemonic, self.row(), sections, rules)


def row_of(row: Row) -> dict[str, str]:
    """Return a row of the table of asynchronous instructions."""
    later = (f"{spell_version(since.ptx)} {since.targets} (.{word})" for word, since in row.later.items())
    named = {word for slot in row.slots for words in slot for word in words}
    floors = [text for text, word in zip(later, row.later, strict=True) if word in named]
    return {
        "instruction": row.head,
        "modifiers": row.modifiers,
        "operands": ", ".join(map(str, row.operands)),
        "ptx": spell_version(row.available.ptx),
        "targets": row.available.targets,
        "later": ", ".join(floors),
        "effect": "; ".join(row.effect) or "unsupported",
        "source": row.source,
    }


def rows() -> list[dict[str, str]]:
    """Return the table of asynchronous instructions."""
    return [row_of(row) for row in ROWS]
