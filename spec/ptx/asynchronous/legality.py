"""When an asynchronous instruction is legal in a module: rules with reasons and sources.

The rules were compared with ptxas of CUDA 13.0, form by form, on every target and version; what it takes
beyond the manual is in `leniency`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ... import legality
from ...legality import Violation
from ..declarations import SPACES
from ..legality import Module, target_version
from ..operands import (
    UNDECLARED,
    Address,
    Decimal,
    HexFloat,
    Integer,
    Predicate,
    Register,
    Sink,
    Vector,
)
from ..special_registers import as_read
from ..targets import spell_version
from .catalogue import LATER_TARGET, by_head, form_of, later_words, spelling
from .operands import Elected, Given, NegatedPlace, Offset, TensorPlace
from .rows import Form, Place, Row, Sort, spelled


@dataclass(frozen=True)
class Asynchronous:
    """An asynchronous instruction as it is written.

    Attributes
    ----------
    mnemonic : str
        Opcode and modifiers.
    operands : tuple of Given, optional
        None where there are none: then only the mnemonic is judged.
    predicate : Predicate, optional
        The guard.
    """

    mnemonic: str
    operands: tuple[Given, ...] | None = None
    predicate: Predicate | None = None

    @property
    def form(self) -> Form | None:
        """The form that it spells, if there is one."""
        return form_of(self.mnemonic)

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows with its head."""
        return by_head().get(spelling(self.mnemonic).head, ())


Rule = legality.Rule[Asynchronous, Module]


# -- the mnemonic
def _head(written: Asynchronous, _: Module) -> Iterator[str]:
    if not written.rows:
        lead = spelling(written.mnemonic).head
        heads = [head for head in by_head() if f"{head}.".startswith(f"{lead}.")]
        yield f"{written.mnemonic} begins with none of {', '.join(heads)}"


def _modifiers(written: Asynchronous, _: Module) -> Iterator[str]:
    head, modifiers = spelling(written.mnemonic)
    if not written.rows or written.form is not None or later_words(written.mnemonic):
        return
    if spelled(modifiers)[2]:
        twice = next(word for word in modifiers if modifiers.count(word) > 1)
        yield f"{written.mnemonic} has .{twice} twice"
        return
    has = f"{head} has {_choices(written.rows)}"
    known = {word for row in written.rows for slot in row.slots for words in slot for word in words}
    if unknown := [word for word in modifiers if word not in known]:
        yield f".{', .'.join(unknown)} {'is' if len(unknown) == 1 else 'are'} not for {head}; {has}"
        return
    yield f"the modifiers of {written.mnemonic} do not go together; {has}"


def _choices(rows: Sequence[Row]) -> str:
    """Spell the slots of rows, with semicolons between the rows."""
    return "; or ".join(
        dict.fromkeys(" ".join(map(_slot, row.modifiers.split())) or "no modifiers" for row in rows)
    )


def _slot(slot: str) -> str:
    choices = slot.removesuffix("?").split("|")
    text = "|".join("." + choice.replace("+", ".") for choice in choices)
    return f"{{{text}}}" if slot.endswith("?") else f"({text})" if len(choices) > 1 else text


def _target(written: Asynchronous, module: Module) -> Iterator[str]:
    if written.form is not None and not written.form.available.on(module.target):
        yield f"{written.mnemonic} needs {written.form.available.targets}, not {module.target}"
    if (words := later_words(written.mnemonic)) and module.target.number < LATER_TARGET:
        yield f".{', .'.join(words)} of {written.mnemonic} needs sm_{LATER_TARGET}+, not {module.target}"


def _version(written: Asynchronous, module: Module) -> Iterator[str]:
    if written.form is not None and module.ptx < written.form.available.ptx:
        needed = spell_version(written.form.available.ptx)
        yield f"{written.mnemonic} needs PTX {needed}, not {spell_version(module.ptx)}"


# -- operands
def placed(written: Asynchronous) -> Iterator[tuple[Form, Place, Given]]:
    """Yield the operands with their places; nothing where the mnemonic is none."""
    if written.form is not None and written.operands is not None:
        places = written.form.places_of(written.operands)
        for place, operand in zip(places, written.operands, strict=False):
            yield written.form, place, operand


def _count(written: Asynchronous, module: Module) -> Iterator[str]:
    form = written.form
    if form is None or (written.operands is None and written.form is not None and form.fewest_operands):
        return  # the mnemonic alone is judged
    given, places = len(written.operands or ()), form.places_of(written.operands or ())
    missing = sum(place.available is None for place in places[given:])
    if missing or given > len(places):
        names = ", ".join(map(str, form.places)) or "no operands"
        yield f"{written.mnemonic} takes {names}, not {given} operands"
    for place in places[:given]:
        since = place.available
        if since is not None and not since.allows(module.target, max(module.ptx, module.target.since)):
            yield f"{place.name} of {written.mnemonic} needs {since}, not {module}"


def _sort(written: Asynchronous, _: Module) -> Iterator[str]:
    for form, place, operand in placed(written):
        if not is_of_sort(form, place, operand):
            wanted = place.sort.value
            if place.sort in (Sort.VECTOR, Sort.COORDINATES):
                wanted = f"a vector of {form.vector_length(place)} registers"
            yield f"{place.name} must be {wanted}, not {operand}"


def is_of_sort(form: Form, place: Place, operand: Given) -> bool:
    """Tell whether an operand is what its place takes, but for registers' types."""
    match place.sort, operand:
        case Sort.ADDRESS, Address(Register()):
            return True
        case Sort.TENSOR, TensorPlace(Address(Register(), 0), Vector(coordinates)):
            return len(coordinates) == form.rank and all(
                isinstance(c, Register | Integer) for c in coordinates
            )
        case Sort.INTEGER, (Register() | Integer()):
            return True
        case Sort.RESULT, (Register() | Sink()):
            return isinstance(operand, Register) or place.name == "state"
        case (Sort.SINK, Sink()) | (Sort.CONSTANT, Integer()) | (Sort.PREDICATE, Register()):
            return True
        case Sort.ELECTED, Elected((Register() | Sink()), Register()):
            return True
        case Sort.OFFSETS, Vector(elements):
            return len(elements) == form.rank - 2 and all(isinstance(e, Register | Integer) for e in elements)
        case Sort.LOCATION, (Register() | Offset() | Integer()):
            return True
        case Sort.DATA, Vector(elements):
            return form.is_vector and len(elements) == form.elements and all(map(_is_datum, elements))
        case Sort.DATA, _:
            return form.elements == 1 and _is_datum(operand)
    return _is_of_tensor_memory(form, place, operand)


def _is_of_tensor_memory(form: Form, place: Place, operand: Given) -> bool:
    match place.sort, operand:
        case (Sort.REGISTER, Register()) | (Sort.CELLS, Address(Register())):
            return True
        case Sort.MATRIX, (Address(Register()) | Register() | Integer()):
            return True
        case Sort.CONDITION, (Register() | NegatedPlace(Register()) | Integer()):
            return True
        case Sort.COORDINATES, Vector(elements):
            suits = len(elements) == form.vector_length(place)
            return suits and all(isinstance(element, Register | Sink) for element in elements)
        case Sort.VECTOR, Vector(elements):
            suits = len(elements) == form.vector_length(place)
            return suits and all(isinstance(element, Register) for element in elements)
    return False


def _is_datum(operand: Given) -> bool:
    return isinstance(operand, Register | Integer | HexFloat | Decimal)


def _constants(written: Asynchronous, _: Module) -> Iterator[str]:
    for form, place, operand in placed(written):
        if isinstance(operand, Integer) and place.values is not None and operand.value not in place.values:
            yield f"{place.name} is {place.allowed}, not {operand}"
        if place.sort is Sort.DATA:
            kind = form.type[:1]
            for element in operand.elements if isinstance(operand, Vector) else (operand,):
                floating = isinstance(element, HexFloat | Decimal)
                other = isinstance(element, HexFloat) and kind == "b" and str(element.bits) != form.type[1:]
                if (kind == "f" and isinstance(element, Integer)) or (kind in "us" and floating) or other:
                    yield f"{place.name} of .{form.type} can't be {element}"


def _integers(bits: int) -> frozenset[str]:
    return frozenset(f"{sort}{bits}" for sort in "bus")


_ADDRESSES = _integers(32) | _integers(64)
_PREDICATES = frozenset({"pred"})
_CELL_BITS = frozenset({"b32"})
"""What an address of tensor memory is in where a descriptor could stand."""
_WORDS = _integers(32) | {"f32", "f16x2"}
"""What may be in a vector of registers of 32 bits."""


def registers(place: Place, form: Form, operand: Given) -> Iterator[tuple[Register, frozenset[str]]]:
    """Yield the registers of an operand, with the types that each may have."""
    for part, types in _parts(place, form, operand):
        if isinstance(part, Register):
            yield part, frozenset(place.types) or types


def _parts(place: Place, form: Form, operand: Given) -> Iterator[tuple[object, frozenset[str]]]:
    match place.sort, operand:
        case Sort.ADDRESS, Address(base):
            yield base, _ADDRESSES
        case Sort.TENSOR, TensorPlace(Address(base), Vector(coordinates)):
            yield base, _integers(64)
            yield from ((as_read(coordinate), _integers(32)) for coordinate in coordinates)
        case Sort.OFFSETS, Vector(elements):
            yield from ((element, _integers(16)) for element in elements)
        case Sort.ELECTED, Elected(first, second):
            yield first, _integers(32)
            yield second, _PREDICATES
        case ((Sort.PREDICATE | Sort.CONDITION), _):
            yield operand.operand if isinstance(operand, NegatedPlace) else operand, _PREDICATES
        case Sort.CELLS, Address(base):
            yield base, _integers(32)
        case Sort.MATRIX, Address(base):
            yield base, _CELL_BITS
        case ((Sort.VECTOR | Sort.COORDINATES), Vector(elements)):
            yield from ((element, _WORDS) for element in elements)
        case Sort.DATA, _:
            data = operand.elements if isinstance(operand, Vector) else (operand,)
            yield from ((each, _suiting(form.type)) for each in data)
        case _, Offset(base):
            yield base, _integers(place.bits)
        case _:
            yield operand, _integers(place.bits)


def _suiting(name: str) -> frozenset[str]:
    """Return the types of registers that suit a type: of its size, and not of another kind."""
    kind, bits = name[:1], name[1:]
    if kind == "f":
        return frozenset({f"f{bits}", f"b{bits}"})
    return _integers(int(bits)) | ({f"f{bits}"} if kind == "b" else set())


def _classes(written: Asynchronous, _: Module) -> Iterator[str]:
    for form, place, operand in placed(written):
        if not is_of_sort(form, place, operand):
            continue
        for register, types in registers(place, form, operand):
            if register.type is None:
                continue
            if register.type == UNDECLARED:
                yield f"{place.name}: {register} is not declared"
            elif register.space is not None:
                base = operand.address.base if isinstance(operand, TensorPlace) else register
                located = place.sort in (Sort.ADDRESS, Sort.TENSOR, Sort.LOCATION) and register is base
                if register.space not in SPACES or not located:
                    yield f"{place.name} is a register, not {register} of .{register.space}"
            elif register.type not in types:
                allowed = ", ".join(f".{name}" for name in sorted(types))
                yield f"{place.name} is of {allowed}, not {register} of .{register.type}"


def _space(written: Asynchronous, _: Module) -> Iterator[str]:
    for form, place, operand in placed(written):
        spaces = form.spaces(place)
        for register, _types in registers(place, form, operand):
            if spaces and register.space in SPACES and register.space not in spaces:
                allowed = " or ".join(f".{space}" for space in spaces)
                yield f"{place.name} takes a variable in {allowed}, not {register} in .{register.space}"


def _guard(written: Asynchronous, _: Module) -> Iterator[str]:
    guard = written.predicate
    if guard is None or guard.type in (None, "pred"):
        return
    if guard.type == UNDECLARED:
        yield f"the guard {guard.name} is not declared"
    else:
        yield f"the guard must be a register of .pred, not {guard.name} of .{guard.type}"


_MANUAL = "PTX ISA 9.1 sections 9.7.9, 9.7.13, 9.7.16; ptxas"

SPELLING: tuple[Rule, ...] = (
    Rule("async-head", "the instruction has an operation", _MANUAL, _head),
    Rule(
        "async-modifier", "modifiers go together, each once, state spaces in their order", _MANUAL, _modifiers
    ),
)  # fmt: skip
"""The rules on a mnemonic by itself, whatever the module."""

RULES: tuple[Rule, ...] = (
    *SPELLING,
    Rule(
        "async-target-version", "the module's PTX version knows its target",
        "PTX ISA chapter 13 (release notes); ptxas", target_version,
    ),
    Rule("async-target", "the target has the form", f"{_MANUAL}, target notes", _target),
    Rule("async-version", "the module's PTX version has the form", f"{_MANUAL}, ISA notes", _version),
    Rule("async-operand-count", "the operands are those of the syntax line", _MANUAL, _count),
    Rule("async-operand", "each operand is of the sort that the syntax line has", _MANUAL, _sort),
    Rule("async-constant", "constants are in their ranges", _MANUAL, _constants),
    Rule("async-register", "registers are declared, and suit the operand", _MANUAL, _classes),
    Rule("async-space", "variables are in the state space that the operand takes", _MANUAL, _space),
    Rule("async-guard", "a guard is a predicate", "PTX ISA 9.1 section 9.3; ptxas", _guard),
)  # fmt: skip
"""Every rule on an asynchronous instruction."""


def violations(written: Asynchronous, module: Module) -> list[Violation]:
    """Return every violated rule; an empty list means legal."""
    return legality.violations(RULES, written, module)
