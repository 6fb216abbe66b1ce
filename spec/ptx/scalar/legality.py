"""When a scalar instruction is legal in a module: rules with reasons and sources.

The rules were compared with ptxas of CUDA 13.0, form by form and class of registers by class; what it takes
beyond the manual is in `LENIENT`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from ... import legality
from ...legality import Note, NoteKind, Violation
from ..legality import Module, target_version
from ..operands import (
    UNDECLARED,
    Address,
    Decimal,
    HexFloat,
    Integer,
    Operand,
    Predicate,
    Register,
    Sink,
    Vector,
)
from ..targets import NEWEST, TARGETS, Availability, spell_version
from .catalogue import Spelling, by_opcode, form_of, spelling
from .operands import Written
from .rows import Form, Place, Row


@dataclass(frozen=True)
class Scalar:
    """A scalar instruction as it is written.

    Attributes
    ----------
    opcode : str
        What stands before the first dot.
    modifiers : tuple of str
        The rest of the mnemonic.
    operands : tuple of Written, optional
        None where there are none: then only the mnemonic is judged.
    predicate : Predicate, optional
        The guard.
    """

    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple[Written, ...] | None = None
    predicate: Predicate | None = None

    @property
    def mnemonic(self) -> str:
        """Its name, as written."""
        return ".".join([self.opcode, *self.modifiers])

    @property
    def form(self) -> Form | None:
        """The form that it spells, if there is one."""
        return form_of(self.opcode, self.modifiers, None if self.operands is None else len(self.operands))

    @property
    def spelling(self) -> Spelling:
        """Its modifiers."""
        return spelling(self.opcode, self.modifiers)


Rule = legality.Rule[Scalar, Module]


def _dotted(words: Iterable[str]) -> str:
    return ", ".join(f".{word}" for word in words)


def _rows(scalar: Scalar, *, typed: bool = False) -> Sequence[Row]:
    """Return the rows with the head of an instruction, and with its types."""
    spelled = scalar.spelling
    rows = [row for row in by_opcode()[scalar.opcode] if row.head == spelled.head]
    if not typed:
        return rows
    return [row for row in rows if row.has_types(spelled.types)]


def _head(scalar: Scalar, _: Module) -> Iterator[str]:
    if not _rows(scalar):
        written = scalar.spelling.head
        heads = dict.fromkeys(row.head for row in by_opcode()[scalar.opcode])
        yield f"{scalar.mnemonic} begins with none of {', '.join(heads)}, but with {written}"


def _types(scalar: Scalar, _: Module) -> Iterator[str]:
    rows, types = _rows(scalar), scalar.spelling.types
    if not rows or _rows(scalar, typed=True):
        return
    allowed = dict.fromkeys(types for row in rows for types in product(*row.type_slots))
    written = _dotted(types) or "no type"
    known = ", ".join("".join(f".{name}" for name in names) for names in allowed)
    heads = dict.fromkeys(row.head for row in by_opcode()[scalar.opcode] if row.has_types(types))
    also = f"; {written} is for {', '.join(heads)}" if heads else ""
    yield f"{scalar.spelling.head} has no form of {written}; it has {known}{also}"


def _flags(scalar: Scalar, _: Module) -> Iterator[str]:
    rows = _rows(scalar, typed=True)
    if not rows or scalar.form is not None:
        return
    spelled = scalar.spelling
    sets = dict.fromkeys(tuple(filter(None, flags)) for row in rows for flags in product(*row.flag_slots))
    every = dict.fromkeys(flag for flags in sets for flag in flags)
    name = ".".join([spelled.head, *spelled.types])
    if unknown := sorted(spelled.flags - every.keys()):
        has = f"it has {_dotted(every)}" if every else "it has no modifiers"
        yield f"{_dotted(unknown)} {'is' if len(unknown) == 1 else 'are'} not for {name}; {has}"
        return
    choices = "; ".join(_dotted(flags) or "none" for flags in sets)
    yield f"{name} has {_dotted(sorted(spelled.flags)) or 'no modifier'}; together stand: {choices}"


def _availability(scalar: Scalar) -> Availability | None:
    return None if scalar.form is None else scalar.form.row.availability


def _target(scalar: Scalar, module: Module) -> Iterator[str]:
    needed = _availability(scalar)
    if needed is not None and not needed.on(module.target):
        yield f"{scalar.mnemonic} needs {needed.targets}, not {module.target}"


def _version(scalar: Scalar, module: Module) -> Iterator[str]:
    needed = _availability(scalar)
    if needed is not None and module.ptx < needed.ptx:
        yield f"{scalar.mnemonic} needs PTX {spell_version(needed.ptx)}, not {spell_version(module.ptx)}"


# -- operands

_OperandCheck = Callable[[Scalar, Form, Sequence[Written]], Iterator[str]]


def _of_operands(check: _OperandCheck) -> Callable[[Scalar, Module], Iterator[str]]:
    def judged(scalar: Scalar, _: Module) -> Iterator[str]:
        form = scalar.form
        if form is not None and scalar.operands is not None:
            yield from check(scalar, form, scalar.operands)

    return judged


def _count(scalar: Scalar, form: Form, operands: Sequence[Written]) -> Iterator[str]:
    results, sources = form.written_places
    names = ["|".join(place.name for place in results), *(place.name for place in sources)]
    if len(operands) != len(names):
        yield f"{scalar.mnemonic} takes {', '.join(names)}, not {len(operands)} operands"
    for written, name in zip(operands, names, strict=False):
        if (written.second is not None) != ("|" in name):
            yield f"{name} is {'a pair' if '|' in name else 'one operand'}, not {written}"


def _placed(form: Form, operands: Sequence[Written]) -> Iterator[tuple[Place, Operand, bool, bool]]:
    """Yield places with what stands there: operand, whether it is negated, whether it is a result."""
    results, sources = form.written_places
    if operands:
        pair = (operands[0].operand, operands[0].second)
        for place, operand in zip(results, pair, strict=False):
            if operand is not None:
                yield place, operand, operands[0].negated, True
    for place, written in zip(sources, operands[1:], strict=False):
        yield place, written.operand, written.negated, False


def _sort(_: Scalar, form: Form, operands: Sequence[Written]) -> Iterator[str]:
    paired = len(form.written_places[0]) == 2
    for place, operand, negated, is_result in _placed(form, operands):
        match operand:
            case Vector() | Address():
                yield f"{place.name} must be a register{' or a constant' * (not is_result)}, not {operand}"
            case Sink() if not (is_result and paired and place.type.kind != "pred"):
                yield f"{place.name} can't be _"
            case Integer() | HexFloat() | Decimal() if is_result:
                yield f"{place.name} must be a register, not {operand}"
            case Register() if place.immediate:
                yield f"{place.name} must be a constant, not {operand}"
        if negated and (is_result or place.type.kind != "pred"):
            yield f"{place.name} can't be negated: only predicates that are read can"


def _constants(_: Scalar, form: Form, operands: Sequence[Written]) -> Iterator[str]:
    for place, operand, _negated, is_result in _placed(form, operands):
        if is_result:
            continue
        kind = place.type
        if isinstance(operand, Integer | HexFloat | Decimal) and (
            kind.lanes > 1 or (kind.kind == "f" and kind.width == 16)
        ):
            yield f"{place.name} of .{kind} takes registers, not {operand}"
            continue
        match operand, kind.kind:
            case Integer(), "f":
                yield f"{place.name} takes floating-point constants, not {operand}"
            case ((HexFloat() | Decimal()), ("u" | "s" | "pred")):
                yield f"{place.name} takes integers, not {operand}"
            case HexFloat(_, bits), "b" if bits != place.type.bits:
                yield f"{place.name} has {place.type.bits} bits, not the {bits} of {operand}"
            case Decimal(), "b" if place.type.bits != 64:
                yield f"{place.name} has {place.type.bits} bits, not the 64 of {operand}"
            case Integer(value), _ if place.immediate and not 0 <= value <= 0xFF:
                yield f"{place.name} is from 0 to 255, not {value}"


def _classes(_: Scalar, form: Form, operands: Sequence[Written]) -> Iterator[str]:
    for place, operand, _negated, _is_result in _placed(form, operands):
        if not isinstance(operand, Register) or operand.type is None:
            continue
        if operand.type == UNDECLARED:
            yield f"{place.name}: {operand} is not declared"
        elif operand.type not in _suiting(place):
            declared = operand.type.removeprefix(".")
            yield f"{place.name} is of .{place.type}, not {operand} of .{declared}"


def _suiting(place: Place) -> frozenset[str]:
    """Return the types of registers that suit an operand: of its size, and not of another kind."""
    kind, bits = place.type.kind, place.type.bits
    if kind == "pred":
        return frozenset({"pred"})
    names = {f"b{bits}"}
    if place.type.lanes == 1 and kind != "f":
        names |= {f"u{bits}", f"s{bits}"}
    if place.type.lanes == 1 and (kind == "b" or place.type.name == f"f{bits}"):
        names.add(f"f{bits}")
    if bits == 32 and place.type.name not in ("u32", "f32", "bf16x2"):
        names.add("f16x2")
    return frozenset(names)


def _guard(scalar: Scalar, _: Module) -> Iterator[str]:
    guard = scalar.predicate
    if guard is not None and guard.type == UNDECLARED:
        yield f"the guard {guard.name} is not declared"
    elif guard is not None and guard.type not in (None, "pred"):
        yield f"the guard must be a register of .pred, not {guard.name} of .{guard.type}"


_MANUAL = "PTX ISA 9.1 section 9.7, the syntax lines; ptxas"
_NOTES = "PTX ISA 9.1 section 9.7, the notes of each instruction; ptxas"

RULES: tuple[Rule, ...] = (
    Rule("scalar-head", "the words behind the opcode are those of a form", _MANUAL, _head),
    Rule("scalar-type", "the types are those of a form", _MANUAL, _types),
    Rule("scalar-modifier", "the modifiers go with the types, and with each other", _MANUAL, _flags),
    Rule(
        "scalar-target-version", "the module's PTX version knows its target",
        "PTX ISA chapter 13 (release notes); ptxas", target_version,
    ),
    Rule("scalar-target", "the target has the form", _NOTES, _target),
    Rule("scalar-version", "the module's PTX version has the form", _NOTES, _version),
    Rule("scalar-operand-count", "the operands are those of the syntax line", _MANUAL, _of_operands(_count)),
    Rule(
        "scalar-operand", "results are registers; sources are registers or constants, without brackets",
        _MANUAL, _of_operands(_sort),
    ),
    Rule(
        "scalar-constant", "a constant is of the kind and the range of the operand",
        "PTX ISA 9.1 sections 4.5 and 9.7; ptxas", _of_operands(_constants),
    ),
    Rule(
        "scalar-register", "a register is as wide as the operand, and of bits or of the same kind",
        "PTX ISA 9.1 section 9.2, table 27; ptxas", _of_operands(_classes),
    ),
    Rule("scalar-guard", "a guard is a predicate", "PTX ISA 9.1 section 9.3; ptxas", _guard),
)  # fmt: skip
"""Every rule on a scalar instruction."""


def violations(scalar: Scalar, module: Module) -> list[Violation]:
    """Return every violated rule; an empty list means legal."""
    return legality.violations(RULES, scalar, module)


# -- what ptxas takes all the same


@dataclass(frozen=True)
class Lenience:
    """Something that the manual rules out, and ptxas of CUDA 13.0 takes.

    Attributes
    ----------
    rule : str
        What it violates.
    what : str
        In words.
    applies : callable
        Tells whether an instruction is so.
    """

    rule: str
    what: str
    applies: Callable[[Scalar], bool]


def _carries(scalar: Scalar) -> bool:
    return scalar.opcode in ("addc", "subc", "madc") and "cc" not in scalar.spelling.flags


def _short_carry(scalar: Scalar) -> bool:
    return _carries(scalar) and scalar.spelling.types in (("u16",), ("s16",))


def _saturated_carry(scalar: Scalar) -> bool:
    spelled = scalar.spelling
    return _carries(scalar) and spelled.flags == {"sat"} and spelled.types == ("s32",)


def _wide_table(scalar: Scalar) -> bool:
    return scalar.opcode == "lop3"


def _packed_predicate(scalar: Scalar) -> bool:
    return scalar.spelling.types == ("pred",)


def _product_of_bf16(scalar: Scalar) -> bool:
    spelled = scalar.spelling
    rounded = spelled.flags - {"relu", "oob"}
    of_bf16 = spelled.types in (("bf16",), ("bf16x2",))
    return scalar.opcode == "fma" and of_bf16 and rounded in ({"rz"}, {"rm"}, {"rp"})


def _saturated_product(scalar: Scalar) -> bool:
    spelled = scalar.spelling
    of_f16 = spelled.types in (("f16",), ("f16x2",))
    return scalar.opcode == "fma" and of_f16 and spelled.flags == {"rn", "oob", "sat"}


def _flushed_reciprocal(scalar: Scalar) -> bool:
    spelled = scalar.spelling
    rounded = spelled.flags - {"ftz"} in ({"rn"}, {"rz"}, {"rm"}, {"rp"})
    return scalar.opcode == "rcp" and spelled.types == ("f64",) and rounded


def _without_test(scalar: Scalar) -> bool:
    return scalar.opcode == "testp" and not scalar.spelling.flags


def _mixed_with_bf16(scalar: Scalar) -> bool:
    return scalar.spelling.types == ("f32", "bf16")


def _packed_integer(scalar: Scalar) -> bool:
    return scalar.spelling.types in (("u32",), ("u16",)) and scalar.opcode in ("div", "mul", "rem", "mad")


LENIENT = (
    Lenience("scalar-modifier", "products of .bf16 that are not rounded to nearest", _product_of_bf16),
    Lenience("scalar-modifier", "products with .oob that saturate", _saturated_product),
    Lenience("scalar-modifier", "reciprocals of .f64 that round and flush", _flushed_reciprocal),
    Lenience("scalar-modifier", "testp without a test", _without_test),
    Lenience("scalar-type", "sums with a carry of 16 bits that do not set it", _short_carry),
    Lenience("scalar-modifier", "sums with a carry that saturate", _saturated_carry),
    Lenience("scalar-constant", "tables of lop3 beyond 255, of which it keeps the low 8 bits", _wide_table),
    Lenience("scalar-register", "registers of .f16x2 for predicates", _packed_predicate),
    Lenience("scalar-register", "registers of .f16x2 for results and factors of .u32", _packed_integer),
    Lenience("scalar-register", "integers of 16 bits for .bf16 beside .f32", _mixed_with_bf16),
    Lenience("scalar-constant", "integers for .bf16 beside .f32", _mixed_with_bf16),
)
"""All that is known."""


def objections(scalar: Scalar, wrong: Sequence[Violation]) -> tuple[Note, ...]:
    """Return a note on each violation that ptxas takes all the same."""
    rules = {violation.rule.id for violation in wrong}
    return tuple(
        Note(NoteKind.OBJECTION, f"ptxas of CUDA 13.0 takes {lenience.what}")
        for lenience in LENIENT
        if lenience.rule in rules and lenience.applies(scalar)
    )


_ANY = Module(TARGETS["sm_100a"], NEWEST)
"""A module for rules that ask for none."""

_AVAILABILITY = ("scalar-target-version", "scalar-target", "scalar-version")
"""Rules that only some targets or versions break."""


def refused(scalar: Scalar) -> list[Violation]:
    """Return the rules by which ptxas refuses an instruction on every target."""
    lenient = {each.rule for each in LENIENT if each.applies(scalar)}
    wrong = violations(scalar, _ANY)
    return [each for each in wrong if each.rule.id not in _AVAILABILITY and each.rule.id not in lenient]
