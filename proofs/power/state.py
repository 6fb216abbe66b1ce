"""State: what the automaton accepts can't tell whether accumulators and VSRs share storage.

Reading and writing move whole registers and never look inside: a register of one free bit stands for any
register, and free results stand for whatever is computed from equal operands.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from ...spec.algebra import Algebra, Array
from ...spec.formats import B1
from ...spec.power.forms import Form
from ...spec.power.instructions import Instruction
from ...spec.power.legality import RULES
from ...spec.power.priming import ACCUMULATORS, CONDITIONS, SOURCE, after, own, owners, priming
from ...spec.power.registers import ACCUMULATOR_ROWS
from ...spec.power.state import ASSOCIATED_VSRS, VSRS, State, groups, operands, with_groups, written
from ...spec.power.targets import TARGETS
from ..induction import Formula, Instance, Transition, induction
from ..obligation import (
    Case,
    Certificate,
    Equation,
    Inputs,
    Method,
    Property,
    Status,
    Theorem,
    Variable,
    immediate,
    theorem,
)
from .priming import (
    CLASSES,
    LOADS,
    PRIMED,
    READERS,
    SHAPES,
    accepts,
    equal,
    instruction,
    naming,
    primed,
    register_operands,
    register_variables,
)

STORAGE = (Variable("vsr", B1, (VSRS, 1)), Variable("acc", B1, (ACCUMULATORS, ACCUMULATOR_ROWS, 1)))


def shared_image(alg: Algebra, separate: State, live: Array) -> State:
    """Return the state of the shared machine that a state of the separate one corresponds to.

    VSR[4k..4k+3] hold ACC[k] where it is primed; everything else agrees. So the VSRs of a primed and the
    contents of an unprimed accumulator are arbitrary on the separate machine.
    """
    data = alg.where(live[..., None, None], separate.acc, groups(separate.vsr))
    return separate._replace(vsr=with_groups(separate.vsr, data))


# -- simulation
SIMULATION = (
    "∀ states s, priming states, registers: accepted(i) ⇒ i reads the same from s as from image(s), and "
    "image'(write_separate(s, r)) = write_shared(image(s), r) for all results r, where image puts ACC[k] in "
    "VSR[4k..4k+3] for primed k, and image' for k primed after i"
)


simulation = Theorem(
    "power/state/simulation",
    "an accepted instruction does the same on both machines",
    SIMULATION,
    SOURCE,
    lambda: (
        Case(
            name,
            partial(_simulation, forms[0], tuple(CONDITIONS)),
            choices="aliasing: both",
            statement=naming(SIMULATION, forms),
        )
        for name, forms in CLASSES.items()
    ),
)


@dataclass(frozen=True)
class Executed:
    """An instruction of a class is executed on both machines, unless it breaks a rule."""

    form: Form
    rules: tuple[str, ...] = tuple(CONDITIONS)
    begins = False


@dataclass(frozen=True)
class Started:
    """Both machines start, with no accumulator primed."""

    begins = True


@dataclass(frozen=True)
class Imaged(Formula):
    """The shared machine is in the image of the separate machine's state, and what was read is the same."""

    @property
    def text(self) -> str:
        """P(n)."""
        return "after n instructions the shared machine's state is image(s_n), and both have read the same"

    def instance(self, transition: Transition) -> Instance:
        """Return the claim for a class of instructions, or for the start."""
        if isinstance(transition, Executed):
            return Instance(Simulated(transition), Accepted(transition))
        return Instance(_image_of_the_start)


@dataclass(frozen=True)
class Accepted:
    """The instruction breaks none of the rules."""

    executed: Executed

    def __call__(self, alg: Algebra, v: Inputs) -> Iterator[Array]:
        """Yield the assumption."""
        return accepts(self.executed.form, alg, v, self.executed.rules)


@dataclass(frozen=True)
class Simulated:
    """The instruction reads the same on both machines, and takes an image to the image."""

    executed: Executed

    def __call__(self, alg: Algebra, v: Inputs) -> Iterator[Equation]:
        """Yield what is read, and the state afterwards."""
        form = self.executed.form
        i, live = instruction(form, v), primed(alg, v)
        separate = State(v["vsr"], v["acc"])
        shared = shared_image(alg, separate, live)
        reads = (operands(alg, separate, i, "separate"), operands(alg, shared, i, "shared"))
        for one, other, what in zip(*reads, ("VSRs", "accumulator"), strict=True):
            if one is not None and other is not None:
                yield Equation(one, other, B1, label=f"{what} read")
        if _results(form):
            separate = written(alg, separate, i, "separate", v["result"])
            shared = written(alg, shared, i, "shared", v["result"])
        image = shared_image(alg, separate, after(alg, live, i))
        yield Equation(image.vsr, shared.vsr, B1, label="VSRs of the shared machine afterwards")


def _simulation(form: Form, rules: tuple[str, ...]) -> Property:
    result = (Variable("result", B1, (_results(form), 1)),) if _results(form) else ()
    inputs = (PRIMED, *register_variables(form), *STORAGE, *result)
    claim, assuming = Imaged().instance(Executed(form, rules))
    return Property(inputs, claim, assuming, abstract=False)


def _at_zero(form: Form) -> Instruction:
    return Instruction(form, (0,) * len(form.operands))


def _results(form: Form) -> int:
    """Return how many registers a form writes."""
    if priming(form.operation) is not None:
        return ACCUMULATOR_ROWS
    return len(_at_zero(form).vsrs_written)


NEEDED = "accepted(i) by the other rules alone ⇒ i does the same on both machines: false"


@theorem(
    "power/state/rules-needed",
    "without any one of the rules the machines differ (pinned)",
    NEEDED,
    SOURCE,
)
def rules_needed() -> Iterator[Case]:
    """Yield a refutation for each rule and each class that can break it."""
    reading = {name: forms for name, forms in CLASSES.items() if _at_zero(forms[0]).vsrs_read}
    breakable = {"unprimed": READERS, "vsr-in-use": reading, "vsr-clobber": LOADS}
    for rule, classes in breakable.items():
        others = tuple(other for other in CONDITIONS if other != rule)
        for name, forms in classes.items():
            yield Case(
                f"{rule}/{name}",
                partial(_simulation, forms[0], others),
                Status.REFUTED,
                choices="aliasing: both",
                statement=naming(NEEDED, forms),
            )


INITIAL = "∀ states s: image(s) = s while no accumulator is primed"


initial = Theorem(
    "power/state/initial",
    "the machines start in the same state",
    INITIAL,
    SOURCE,
    lambda: iter(
        (
            Case(
                "any",
                lambda: Property(STORAGE, _image_of_the_start, abstract=False),
                choices="aliasing: both",
            ),
        )
    ),
)


def _image_of_the_start(alg: Algebra, v: Inputs) -> Iterator[Equation]:
    image = shared_image(alg, State(v["vsr"], v["acc"]), primed(alg, {"primed": 0}))
    yield Equation(image.vsr, v["vsr"], B1, label="image(s) = s")


@theorem(
    "power/state/aliasing",
    "an accepted program of any length does the same on both machines",
    "∀ programs, states: no instruction breaks a rule ⇒ every store and rank-k update reads the same on both "
    "machines, hence all results are equal, and they end in states s and image(s)",
    SOURCE,
)
def aliasing() -> Iterator[Case]:
    """Yield the induction."""
    steps = {f"{simulation.id}/{name}": Executed(forms[0]) for name, forms in CLASSES.items()}
    goal = partial(induction, Imaged(), steps, {f"{initial.id}/any": Started()})
    yield Case("any-program", goal, method=Method.INDUCTION, choices="aliasing: both")


# -- operands that overlap the accumulator
OVERLAP_SOURCE = "Moreira et al. sections II-B2 and II-B3; GNU as"

OVERLAP = "∀ AT, XA, XB: the vsr-overlap rule rejects XA ⇔ XA >> 2 = AT, and XB ⇔ XB >> 2 = AT"

AUTOMATON = "∀ AT, XA, XB: the state machine has XA or XB among AT's registers ⇔ XA >> 2 = AT or XB >> 2 = AT"


@theorem(
    "power/state/overlap",
    "the overlap rule rejects exactly the operands inside VSR[4AT..4AT+3]",
    OVERLAP,
    OVERLAP_SOURCE,
)
def overlap() -> Iterator[Case]:
    """Yield one certificate per operand shape."""
    for name, forms in SHAPES.items():
        rule, automaton = partial(_overlap, forms[0]), partial(_overlap_of_automaton, forms[0])
        yield Case(name, rule, method=Method.CERTIFICATE, statement=naming(OVERLAP, forms))
        yield Case(f"{name}/automaton", automaton, statement=naming(AUTOMATON, forms))


def _overlap(form: Form) -> Certificate:
    """Enumerate what the rule says, which is code and no formula."""
    (rule,) = (rule for rule in RULES if rule.id == "vsr-overlap")
    outside = ASSOCIATED_VSRS
    accumulators, first, second = register_operands(form).values()
    points = [(at, x, outside, x) for at, x in product(accumulators, first)]
    points += [(at, outside, y, y) for at, y in product(accumulators, second)]

    def check() -> str | None:
        for at, x, y, operand in points:
            i = Instruction(form, (at, x, y, *(0,) * (len(form.operands) - 3)))
            if any(rule.check(i, TARGETS["power10"])) != (operand >> 2 == at):
                return f"the rule is wrong about vs{operand} in {i}"
        return None

    return Certificate(check, len(points))


def _overlap_of_automaton(form: Form) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        i = instruction(form, v)
        yield Equation(_overlaps(alg, i), _inside(alg, i), label="XA or XB is one of the accumulator's VSRs")

    return Property(register_variables(form), claim, abstract=False)


def _overlaps(alg: Algebra, i: Instruction) -> Array:
    """Tell whether an accumulator's VSRs are among the VSRs read."""
    overlapping: Array = np.bitwise_or.reduce(own(alg, i) & owners(alg, i.vsrs_read), axis=-1)
    return overlapping


def _inside(alg: Algebra, i: Instruction) -> Array:
    at: Any
    at, x, y, *_ = i.operands or ()
    return equal(alg, x >> 2, at) | equal(alg, y >> 2, at)


PAIR = "∀ AT, n: n >> 2 = AT ⇔ (n + 1) >> 2 = AT"


@theorem(
    "power/state/pair",
    "an even-odd pair is inside or outside an accumulator's VSRs as a whole",
    PAIR,
    OVERLAP_SOURCE,
)
def pair() -> Iterator[Case]:
    """Yield a proof for even-odd pairs, and a refutation for others."""

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        n, at = v["n"] & 63, v["AT"] & 7
        yield Equation(equal(alg, n >> 2, at), equal(alg, (n + 1) >> 2, at), label="both or neither inside")

    def even(alg: Algebra, v: Inputs) -> Iterator[Array]:
        yield equal(alg, v["n"] & 1, 0)

    inputs = (Variable("AT", immediate(8)), Variable("n", immediate(8)))
    pairs = partial(Property, inputs, claim, abstract=False)
    yield Case("even", partial(pairs, even), statement=f"{PAIR}, for even n")
    yield Case("any", pairs, Status.REFUTED)


IN_PLACE = "∀ states, registers, results r: i reads the same VSRs before and after r is written to ACC[AT]"


@theorem(
    "power/state/in-place",
    "where no operand overlaps, an accumulator can be written row by row while operands are read",
    IN_PLACE,
    OVERLAP_SOURCE,
)
def in_place() -> Iterator[Case]:
    """Yield three per operand shape: operands apart, any operands, and any on the separate machine.

    Results that agree with the old contents in some rows are an accumulator that is written in part.
    """
    cases = (
        ("shared", True, Status.PROVED),
        ("shared", False, Status.REFUTED),
        ("separate", False, Status.PROVED),
    )
    for (name, forms), (machine, disjoint, expect) in product(SHAPES.items(), cases):
        condition = ", if none of them is in VSR[4AT..4AT+3]" if disjoint else ""
        yield Case(
            f"{machine}/{'disjoint' if disjoint else 'any'}/{name}",
            partial(_in_place, forms[0], machine, disjoint),
            expect,
            choices=f"aliasing: {machine}",
            statement=naming(IN_PLACE + condition, forms),
        )


def _in_place(form: Form, machine: str, disjoint: bool) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        i, before = instruction(form, v), State(v["vsr"], v["acc"])
        changed = written(alg, before, i, machine, v["result"])
        first, again = (operands(alg, state, i, machine).vsrs for state in (before, changed))
        assert first is not None and again is not None
        yield Equation(first, again, B1, label="VSRs read")

    def apart(alg: Algebra, v: Inputs) -> Iterator[Array]:
        yield ~_overlaps(alg, instruction(form, v))

    result = Variable("result", B1, (ACCUMULATOR_ROWS, 1))
    inputs = (*register_variables(form), *STORAGE, result)
    return Property(inputs, claim, apart if disjoint else None, abstract=False)


THEOREMS = (simulation, rules_needed, initial, aliasing, overlap, pair, in_place)
