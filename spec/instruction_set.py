"""What an instruction is to a user: judged, executed, laid out, written as mathematics and as a row.

Each package of an instruction set has a module ``instruction_set`` with an `InstructionSet` of that
name; it is imported when the instruction set is named, or recognised in an instruction's text.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol, cast

from .errors import InputError
from .legality import Note, NoteKind, Violation
from .unmodelled import isa_of_unmodelled, refuse_unmodelled

if TYPE_CHECKING:  # --help starts without numpy
    from .algebra import Array
    from .choices import OpenPoint
    from .element_table import ElementTable
    from .operand_arrays import Observer


@dataclass(frozen=True)
class Judgement:
    """Whether an instruction is legal.

    Attributes
    ----------
    target : str
        The processor it was judged for.
    violations : tuple of Violation
        The rules it violates; none means legal.
    notes : tuple of Note
        What else there is to know.
    """

    target: str
    violations: tuple[Violation, ...]
    notes: tuple[Note, ...] = ()

    @property
    def undecided(self) -> tuple[Note, ...]:
        """The notes on what can't be decided, or is not judged: no rule is known to be broken there."""
        kinds = (NoteKind.UNDECIDED, NoteKind.NOT_JUDGED)
        return tuple(note for note in self.notes if note.kind in kinds)

    @property
    def is_judged(self) -> bool:
        """Whether rules looked at all that was asked about: if not, no violation does not mean legal."""
        return all(note.kind is not NoteKind.NOT_JUDGED for note in self.notes)


@dataclass(frozen=True)
class Description:
    """Titled sections of text.

    Attributes
    ----------
    title : str
        What is described.
    sections : tuple of (heading, lines)
        What there is to say.
    """

    title: str
    sections: tuple[tuple[str, tuple[str, ...]], ...]

    def __str__(self) -> str:
        blocks = [
            "\n".join([heading, *(f"  {line}" for line in lines)])
            for heading, lines in self.sections
            if lines
        ]
        return "\n\n".join([self.title, *blocks])


def described(
    title: str, row: Mapping[str, str], sections: Mapping[str, Sequence[str]], rules: Iterable[str]
) -> Description:
    """Return the description of an instruction.

    Parameters
    ----------
    title : str
        What is described.
    row : mapping of str to str
        Its row of the table.
    sections : mapping of str to lines
        What is particular to it, such as its formulas, by heading.
    rules : iterable of str
        What constrains it, a line for each rule.
    """
    from .formula_text import notation

    lines = [line for section in sections.values() for line in section]
    return Description(
        title,
        (
            ("Table row", tuple(f"{column}: {cell}" for column, cell in row.items() if cell)),
            *((heading, tuple(each)) for heading, each in sections.items()),
            ("Notation", tuple(notation(lines))),
            ("Legality rules", tuple(rules)),
        ),
    )


class Instruction(Protocol):
    """An instruction as it was read: what can be asked about it.

    A text of several instructions is judged as a whole; everything else is asked about one.
    """

    @property
    def mnemonic(self) -> str:
        """Its name, with the modifiers that are part of it."""
        ...

    def legal(self, target: str | None = None, version: str | None = None) -> Judgement:
        """Judge it for a target (by default `InstructionSet.default_target`) and a version of the ISA.

        Raises
        ------
        InputError
            If the target or version is unknown.
        """
        ...

    def laid_out(self, target: str | None = None) -> tuple[str, ...]:
        """Return the operands that have a layout, on a target where targets differ."""
        ...

    def layout(self, operand: str, target: str | None = None) -> ElementTable:
        """Say who holds which element of an operand, on a target where targets differ.

        Raises
        ------
        InputError
            If it has no such operand.
        UnsupportedError
            If the ISA does not specify it.
        """
        ...

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
        """Execute it on named arrays, as a target does where targets differ.

        An observer is told of a product of matrices.

        Raises
        ------
        InputError
            If it is not legal or can't be executed, or an array is missing or wrong.
        """
        ...

    def formula(self, target: str | None = None) -> tuple[str, ...]:
        """Return what it computes as mathematics, line by line, on a target where targets differ."""
        ...

    def row(self) -> dict[str, str]:
        """Return its row of the table ``instructions``."""
        ...

    def describe(self) -> Description:
        """Say what it means and what constrains it."""
        ...


class InstructionSet(Protocol):
    """An instruction set."""

    name: str
    title: str
    """What pages call it."""
    targets: Collection[str]
    default_target: str
    open_points: Sequence[OpenPoint]
    presets: Mapping[str, Any]
    tables: Mapping[str, Callable[[], list[dict[str, str]]]]
    """Tables by name: ``instructions``, ``rules``, ``contradictions``, and what else there is to look up."""

    def __hash__(self) -> int: ...

    def instructions(self) -> list[dict[str, str]]:
        """Return ``mnemonic`` and ``operands`` of every instruction."""
        ...

    def read(self, text: str, declarations: str | None = None) -> Instruction:
        """Read an instruction, with or without operands.

        Parameters
        ----------
        text : str
            As an assembler takes it.
        declarations : str, optional
            What the names in it are declared as, in instruction sets that declare names.

        Raises
        ------
        InputError
            If the text is no instruction, or the instruction set declares no names.
        """
        ...


NAMES = ("power", "ptx", "pto", "mfma")
"""The instruction sets: each is a package with the modules ``assembly`` and ``instruction_set``."""


class _Assembly(Protocol):
    """What the module ``assembly`` of each instruction set says of the texts that it reads."""

    WORDS: Collection[str]
    """How texts begin."""

    KNOWN: str
    """What instructions there are, shortly."""

    def first_word(self, text: str) -> str:
        """Return how a text begins, or nothing: what is compared with `WORDS`."""
        ...


def instruction_set(name: str) -> InstructionSet:
    """Return an instruction set.

    Raises
    ------
    InputError
        If there is none of that name.
    """
    if name not in NAMES:
        raise InputError(f"unknown ISA {name!r}; known: {', '.join(NAMES)}")
    module = import_module(f".{name}.instruction_set", __package__)
    return cast(InstructionSet, module.INSTRUCTION_SET)


def of_target(name: str) -> InstructionSet:
    """Return the instruction set that a target executes.

    Raises
    ------
    InputError
        If no instruction set has a target of that name.
    """
    targets = {isa: _targets(isa) for isa in NAMES}
    for isa, own in targets.items():
        if name in own or name.upper() in own:
            return instruction_set(isa)
    close = get_close_matches(name[:40], [each for own in targets.values() for each in own], n=3, cutoff=0.5)
    known = ", ".join(f"{isa} has {_some_of(', '.join(own))}" for isa, own in targets.items())
    hint = f"did you mean {' or '.join(close)}?" if close else f"{known};"
    raise InputError(f"unknown target {name[:40]!r}; {hint} `mmaproof explain ISA` lists those of an ISA")


def recognised(text: str) -> InstructionSet | None:
    """Return the instruction set that a text's first word belongs to, None where it belongs to none."""
    for name in NAMES:
        assembly = _assembly(name)
        if assembly.first_word(text) in assembly.WORDS:
            return instruction_set(name)
    return None


def of_instruction(text: str, target: str | None = None) -> InstructionSet:
    """Return the instruction set that an instruction's first word belongs to.

    A word of none is taken as an instruction of the target; without one, of the only instruction set that
    has some that are spelled much like it.

    Raises
    ------
    InputError
        If there is no such instruction set, or the target is needed and unknown.
    """
    if (isa := recognised(text)) is not None:
        return isa
    if (name := isa_of_unmodelled(text)) is not None:
        return instruction_set(name)
    if target is not None:
        return of_target(target)
    if not text.strip():
        raise InputError("an instruction is expected, such as 'xvf32gerpp a0,vs34,vs35', not an empty line")
    alike = [name for name in NAMES if _alike(_assembly(name), text)]
    if len(alike) == 1:
        return instruction_set(alike[0])
    known = ", ".join(f"{name} has {_some_of(_assembly(name).KNOWN)}" for name in NAMES)
    word = text.split(maxsplit=1)[0][:40]
    raise InputError(f"unknown mnemonic {word!r}: {known}; `mmaproof list` shows all")


def _some_of(known: str) -> str:
    first, *others = known.split(", ")
    return f"{first} and {len(others)} more" if others else first


def _targets(name: str) -> Collection[str]:
    """Return the targets of an instruction set: of its module ``targets``, read quickly, if it has one."""
    module = f".{name}.targets"
    if find_spec(module, __package__) is None:
        return instruction_set(name).targets
    return cast(Collection[str], import_module(module, __package__).TARGETS)


def _assembly(name: str) -> _Assembly:
    return cast(_Assembly, import_module(f".{name}.assembly", __package__))


def _alike(assembly: _Assembly, text: str) -> bool:
    return bool(get_close_matches(assembly.first_word(text)[:40], assembly.WORDS, n=1, cutoff=0.7))


def read(text: str, target: str | None = None, declarations: str | None = None) -> Instruction:
    """Read an instruction of any instruction set; see `of_instruction` and `InstructionSet.read`.

    Raises
    ------
    InputError
        If it is none.
    UnsupportedError
        If it is known, but not modelled.
    """
    try:
        return of_instruction(text, target).read(text, declarations)
    except InputError:
        if not _is_modelled(text):
            refuse_unmodelled(text)
        raise


def _is_modelled(text: str) -> bool:
    """Tell whether an instruction set specifies an instruction with a text's first word."""
    if (isa := recognised(text)) is None:
        return False
    word = _assembly(isa.name).first_word(text)
    return any(
        instruction["mnemonic"].partition(".")[0] == word.partition(".")[0]
        for instruction in isa.instructions()
    )


def refuse_declarations(isa: str, declarations: str | None) -> None:
    """Refuse declarations of names for an instruction set that has none.

    Raises
    ------
    InputError
        If some are given.
    """
    if declarations is not None:
        raise InputError(f"registers are declared for instructions of PTX, not of {isa}")
