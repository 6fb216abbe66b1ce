"""What an id or a mnemonic stands for, in words and mathematics."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from ..spec.errors import InputError
from ..spec.instruction_set import NAMES, Description, instruction_set, of_instruction
from .catalogue import matching, obligations, theorems
from .obligation import Certificate, Induction, Obligation, Status, Theorem, theorem_of

_LISTED = 8
"""How many ids a message or a section spells out."""

EXPECTATIONS = {
    Status.PROVED: "proved",
    Status.REFUTED: "refuted: a pinned non-theorem, whose counterexample is part of the statement",
}


def explain(identifier: str) -> Description:
    """Explain an obligation, a theorem (by id or unique prefix) or an instruction.

    Raises
    ------
    InputError
        If nothing is called so, or a prefix is not unique.
    """
    by_id = {theorem.id: theorem for theorem in theorems((identifier,))}
    if identifier in obligations():
        return _obligation(obligations()[identifier])
    if identifier in by_id:
        return _theorem(by_id[identifier])
    try:
        return _instruction(identifier)
    except InputError:
        pass
    named: list[Theorem | Obligation] = [t for name, t in by_id.items() if name.startswith(identifier)]
    named = named or [o for o in matching((identifier,)) if o.id.startswith(identifier)]
    match named:
        case [Theorem() as theorem]:
            return _theorem(theorem)
        case [Obligation() as obligation]:
            return _obligation(obligation)
        case [_, *_]:
            raise InputError(f"{identifier!r} is not unique: {_some([entry.id for entry in named])}")
    mnemonics = [row["mnemonic"] for name in NAMES for row in instruction_set(name).instructions()]
    known = [theorem.id for theorem in theorems()]
    names = [*known, *mnemonics, *obligations()]
    close = get_close_matches(identifier[:80], names, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(close)}?" if close else f"theorems: {_some(known)}"
    raise InputError(f"nothing is called {identifier!r}; {hint}")


def _some(names: list[str]) -> str:
    more = [f"and {len(names) - _LISTED} more"] if len(names) > _LISTED else []
    return ", ".join([*names[:_LISTED], *more])


def _obligation(obligation: Obligation) -> Description:
    theorem = theorem_of(obligation, theorems((obligation.id,)))
    return Description(
        obligation.id,
        (
            ("Statement", tuple(obligation.statement.splitlines())),
            ("Variables", tuple(_variables(obligation))),
            ("Theorem", (f"{theorem.id}: {theorem.title}", *theorem.statement.splitlines())),
            ("Expected", (EXPECTATIONS[obligation.expect],)),
            ("Equality", (f"{obligation.equality}: {obligation.equality.meaning}",)),
            ("Method", (f"{obligation.method}: {obligation.method.meaning}",)),
            ("Choices", (obligation.choices,)),
            ("Source", (obligation.source or theorem.source,)),
        ),
    )


def _variables(obligation: Obligation) -> Iterator[str]:
    goal = obligation.goal()
    if isinstance(goal, Induction):
        yield f"premises: {', '.join(goal.premises)}"
        return
    if isinstance(goal, Certificate):
        yield f"{goal.points} points, enumerated; for the solver:"
        goal = goal.witness
    for variable in goal.variables:
        extents = f"[{', '.join(map(str, variable.shape))}]" if variable.shape else ""
        yield f"{variable.name}: {variable.format}{extents}"


def _theorem(theorem: Theorem) -> Description:
    members = list(theorem.obligations())
    counts = {status: sum(o.expect is status for o in members) for status in EXPECTATIONS}
    return Description(
        f"{theorem.id}: {theorem.title}",
        (
            ("Statement", tuple(theorem.statement.splitlines())),
            ("Source", (theorem.source,)),
            (
                "Obligations",
                (
                    f"{counts[Status.PROVED]} expected proved, {counts[Status.REFUTED]} pinned refutations",
                    _some([o.id for o in members]),
                ),
            ),
        ),
    )


def _instruction(text: str) -> Description:
    isa = of_instruction(text)
    instruction = isa.read(text)
    described, mnemonic = instruction.describe(), instruction.mnemonic
    about = [o.id for o in matching((f"{isa.name}/",)) if mnemonic in o.id.split("/")]
    named = (("Obligations", (_some(about),)),) if about else ()
    return Description(described.title, (*described.sections, *named))
