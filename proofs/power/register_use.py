"""Instructions with symbolic register numbers, in classes that use registers in the same way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ...spec.algebra import Algebra, Array
from ...spec.power.catalogue import Move, RankKUpdate
from ...spec.power.forms import FORMS, Form, Kind, Transfer
from ...spec.power.instructions import Instruction
from ...spec.power.priming import ACCUMULATORS, CONDITIONS, accepted, priming
from ..obligation import Inputs, Variable, immediate

PRIMED = Variable("primed", immediate(ACCUMULATORS))
"""Which accumulators are primed; ACC[0] is the most significant bit."""

Class = tuple[Form, ...]


def register_operands(form: Form) -> dict[str, range]:
    """Return the operands that are VSRs or accumulators, with their values."""
    return {o.name: o.values for o in form.operands if o.kind in (Kind.ACCUMULATOR, Kind.VSR)}


def _use(form: Form) -> Any:
    """Return what a form does to its registers, besides their kinds."""
    match form.operation:
        case Transfer(store=store):
            return store
        case Move() as move:
            return move
        case operation:
            return priming(operation)


def _classes(forms: Iterable[Form], use: Callable[[Form], Any]) -> dict[str, Class]:
    found: dict[Any, list[Form]] = {}
    for form in forms:
        found.setdefault((use(form), tuple(register_operands(form).items())), []).append(form)
    return {members[0].mnemonic: tuple(members) for members in found.values()}


CLASSES = _classes(FORMS.values(), _use)
"""The forms that use registers in the same way, by the mnemonic of the first; every form is in one."""

UPDATES = {name: c for name, c in CLASSES.items() if isinstance(c[0].operation, RankKUpdate)}
SHAPES = _classes((form for c in UPDATES.values() for form in c), lambda _: None)
"""The rank-k updates that have the same registers as operands, accumulating or not."""

TRANSFERS = {name: c for name, c in CLASSES.items() if isinstance(c[0].operation, Transfer)}
LOADS = {name: c for name, c in TRANSFERS.items() if _use(c[0]) is False}
READERS = {name: c for name, c in CLASSES.items() if (p := priming(c[0].operation)) and p.needs_primed}
"""The classes that read their accumulator."""


def naming(statement: str, forms: Class) -> str:
    """Return a theorem's statement with the forms it is about."""
    return f"{statement}; i is any of {', '.join(form.mnemonic for form in forms)}"


def register_variables(form: Form) -> tuple[Variable, ...]:
    """Return a variable for each register operand: a byte, so that no number has its sign bit set."""
    return tuple(Variable(name, immediate(8)) for name in register_operands(form))


def instruction(form: Form, v: Inputs) -> Instruction:
    """Return the instruction whose registers are the variables, cut to their encodable bits."""
    known = register_operands(form)
    return Instruction(form, tuple(v[o.name] & o.values[-1] if o.name in known else 0 for o in form.operands))


def equal(alg: Algebra, one: Any, other: Any) -> Array:
    """Compare register numbers."""
    return alg.same(one, other)


def primed(alg: Algebra, v: Inputs) -> Array:
    """Return the priming state as conditions (…, 8)."""
    return alg.flags(v["primed"], ACCUMULATORS)


def is_primed(alg: Algebra, v: Inputs, accumulator: Any) -> Array:
    """Tell whether ACC[accumulator] is primed; one that does not exist is not."""
    top = 1 << (ACCUMULATORS - 1)
    return alg.same((v["primed"] << accumulator) & top, alg.constant(top, PRIMED.format))


def accepts(form: Form, alg: Algebra, v: Inputs, rules: Iterable[str] = tuple(CONDITIONS)) -> Iterator[Array]:
    """Yield the assumption that the instruction breaks none of the rules."""
    yield accepted(alg, primed(alg, v), instruction(form, v), rules)
