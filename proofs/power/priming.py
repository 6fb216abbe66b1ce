"""The priming automaton: what it accepts, how it goes on, and which registers instructions use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial, reduce
from math import prod
from operator import and_
from typing import Any

import numpy as np

from ...spec.algebra import Algebra, Array
from ...spec.power.catalogue import Move, RankKUpdate
from ...spec.power.forms import FORMS, Form, Kind, Transfer
from ...spec.power.instructions import Instruction
from ...spec.power.priming import ACCUMULATORS, CONDITIONS, SOURCE, accepted, after, own, priming
from ..enumeration import enumerated
from ..obligation import Case, Equation, Goal, Inputs, Method, Property, Variable, holds, immediate, theorem

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


ENUMERABLE = 1 << 16
"""No more states and instructions than this are enumerated, with a solver as second witness."""

Claim = Callable[[Form, Algebra, Inputs], Iterator[Equation]]


def _variants(
    classes: dict[str, Class], statement: str, claim: Claim, *, assume_accepted: bool = True
) -> Iterator[Case]:
    """Yield a claim for each class, about every priming state and all registers."""
    for name, forms in classes.items():
        form = forms[0]
        prop = Property(
            (PRIMED, *register_variables(form)),
            partial(claim, form),
            partial(accepts, form) if assume_accepted else None,
            abstract=False,
        )
        domains = {"primed": range(1 << ACCUMULATORS), **register_operands(form)}
        small = prod(map(len, domains.values())) <= ENUMERABLE
        method = Method.CERTIFICATE if small else Method.SMT

        def goal(prop: Property = prop, domains: dict[str, range] = domains, small: bool = small) -> Goal:
            return enumerated(prop, domains) if small else prop

        yield Case(name, goal, method=method, statement=naming(statement, forms))


ACCEPTED = (
    "∀ priming states, registers: accepted(i) ⇔ (i reads ACC[AT] ⇒ primed[AT]) ∧ (i reads or writes VSR[n] "
    "besides ACC[AT] ⇒ n > 31 ∨ ¬primed[n >> 2])"
)


@theorem(
    "power/state/accepted",
    "accepted is what reads only primed accumulators and touches only VSRs that are not in use",
    ACCEPTED,
    SOURCE,
)
def accepted_instructions() -> Iterator[Case]:
    """Yield one obligation per class."""

    def claim(form: Form, alg: Algebra, v: Inputs) -> Iterator[Equation]:
        i = instruction(form, v)
        effect = priming(form.operation)
        conditions = [alg.same(v["primed"], v["primed"])]
        if effect is not None and effect.needs_primed:
            conditions.append(is_primed(alg, v, i.accumulator))
        if form.operation is Move.XXMTACC:
            conditions.append(~is_primed(alg, v, i.accumulator))
        if not isinstance(form.operation, Move):
            conditions += [~is_primed(alg, v, n >> 2) for n in (*i.vsrs_read, *i.vsrs_written)]
        yield Equation(accepted(alg, primed(alg, v), i), reduce(and_, conditions), label="accepted(i)")

    yield from _variants(CLASSES, ACCEPTED, claim, assume_accepted=False)


TRANSITION = "∀ priming states, registers: accepted(i) ⇒ i leaves primed[k] for k ≠ AT, and sets primed[AT]"


@theorem(
    "power/state/transition",
    "an accepted instruction changes the state of its own accumulator only",
    TRANSITION,
    SOURCE,
)
def transition() -> Iterator[Case]:
    """Yield one obligation per class."""

    def claim(form: Form, alg: Algebra, v: Inputs) -> Iterator[Equation]:
        i, before = instruction(form, v), primed(alg, v)
        changed = after(alg, before, i)
        effect = priming(form.operation)
        if effect is None:
            yield Equation(changed, before, label="primed' = primed")
            without = alg.where(own(alg, i), np.array(False), before)
            yield Equation(without, before, label="no accumulator is an operand")
            return
        mine = own(alg, i)
        yield Equation(changed, before, where=~mine, label="primed'[k] = primed[k]")
        yield Equation(changed, np.array(effect.leaves_primed), where=mine, label="primed'[AT]")

    yield from _variants(CLASSES, TRANSITION, claim)


AFTER_XXMFACC = "∀ priming states, registers: ¬accepted(i) after xxmfacc AT"


@theorem(
    "power/state/after-xxmfacc",
    "what reads an accumulator is rejected after xxmfacc; that others leave it so is power/state/transition",
    AFTER_XXMFACC,
    SOURCE,
)
def after_xxmfacc() -> Iterator[Case]:
    """Yield one obligation per class that reads its accumulator."""

    def claim(form: Form, alg: Algebra, v: Inputs) -> Iterator[Equation]:
        i = instruction(form, v)
        at: Any = i.accumulator
        first = Instruction(FORMS["xxmfacc"], (at,))
        yield holds(alg, ~accepted(alg, after(alg, primed(alg, v), first), i), "i is rejected")

    yield from _variants(READERS, AFTER_XXMFACC, claim, assume_accepted=False)


AFTER_CLOBBER = "∀ priming states, n ≤ 31: ¬accepted(xxmfacc n >> 2) after i writes VSR[n]"


@theorem(
    "power/state/after-clobber", "a write to one of its VSRs loses an accumulator", AFTER_CLOBBER, SOURCE
)
def after_clobber() -> Iterator[Case]:
    """Yield one obligation per class of loads."""

    def claim(form: Form, alg: Algebra, v: Inputs) -> Iterator[Equation]:
        i = instruction(form, v)
        state = after(alg, primed(alg, v), i)
        for n in i.vsrs_written:
            read = Instruction(FORMS["xxmfacc"], (n >> 2,))
            associated = equal(alg, n & 32, 0)
            yield holds(alg, ~accepted(alg, state, read), "xxmfacc is rejected", associated)

    yield from _variants(LOADS, AFTER_CLOBBER, claim, assume_accepted=False)


PRIMED_AGAIN = "∀ priming states, AT: accepted(xxsetaccz AT), and i does not break the rule unprimed after it"


@theorem(
    "power/state/primed-again",
    "xxsetaccz is always accepted, and what it primes can be read",
    PRIMED_AGAIN,
    SOURCE,
)
def primed_again() -> Iterator[Case]:
    """Yield one obligation per class that reads its accumulator."""

    def claim(form: Form, alg: Algebra, v: Inputs) -> Iterator[Equation]:
        i, before = instruction(form, v), primed(alg, v)
        at: Any = i.accumulator
        zero = Instruction(FORMS["xxsetaccz"], (at,))
        then = after(alg, before, zero)
        yield holds(alg, accepted(alg, before, zero), "xxsetaccz is accepted")
        yield holds(alg, accepted(alg, then, i, ("unprimed",)), "i finds its accumulator primed")

    yield from _variants(READERS, PRIMED_AGAIN, claim, assume_accepted=False)


THEOREMS = (
    accepted_instructions,
    transition,
    after_xxmfacc,
    after_clobber,
    primed_again,
)
