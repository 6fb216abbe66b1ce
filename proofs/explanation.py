"""What an id or a mnemonic stands for, in words and mathematics."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from ..spec.errors import InputError
from ..spec.power import assembly, tables
from ..spec.power.catalogue import Move, RankKUpdate
from ..spec.power.choices import OPEN_POINTS
from ..spec.power.forms import FORMS, Form
from ..spec.power.formula import formula
from ..spec.power.legality import RULES
from .catalogue import obligations, theorems
from .obligation import Certificate, Induction, Obligation, Status, Theorem
from .reports.report import theorem_of

_LISTED = 8
"""How many ids a message or a section spells out."""

MOVE_EFFECTS = {
    Move.XXMFACC: "VSR[4·AS+i] ← ACC[AS][i] for i = 0..3; ACC[AS] becomes unprimed",
    Move.XXMTACC: "ACC[AT][i] ← VSR[4·AT+i] for i = 0..3; ACC[AT] becomes primed",
    Move.XXSETACCZ: "ACC[AT] ← 0, all 512 bits; ACC[AT] becomes primed",
}

EXPECTATIONS = {
    Status.PROVED: "proved",
    Status.REFUTED: "refuted: a pinned non-theorem, whose counterexample is part of the statement",
}


@dataclass(frozen=True)
class Explanation:
    """Titled sections of text.

    Attributes
    ----------
    title : str
        The id or mnemonic.
    sections : tuple of (heading, lines)
        What there is to say.
    """

    title: str
    sections: tuple[tuple[str, tuple[str, ...]], ...]


def explain(identifier: str) -> Explanation:
    """Explain an obligation, a theorem (by id or unique prefix) or an instruction.

    Raises
    ------
    InputError
        If nothing is called so, or a prefix is not unique.
    """
    by_id = {theorem.id: theorem for theorem in theorems()}
    if identifier in obligations():
        return _obligation(obligations()[identifier])
    if identifier in by_id:
        return _theorem(by_id[identifier])
    try:
        return _form(assembly.parse(identifier).form)
    except InputError:
        pass
    matching: list[Theorem | Obligation] = [t for name, t in by_id.items() if name.startswith(identifier)]
    matching = matching or [o for name, o in obligations().items() if name.startswith(identifier)]
    match matching:
        case [Theorem() as theorem]:
            return _theorem(theorem)
        case [Obligation() as obligation]:
            return _obligation(obligation)
        case [_, *_]:
            raise InputError(f"{identifier!r} is not unique: {_some([m.id for m in matching])}")
    names = [*by_id, *FORMS, *obligations()]
    close = get_close_matches(identifier[:80], names, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(close)}?" if close else f"theorems: {_some(list(by_id))}"
    raise InputError(f"nothing is called {identifier!r}; {hint}")


def _some(names: list[str]) -> str:
    more = [f"and {len(names) - _LISTED} more"] if len(names) > _LISTED else []
    return ", ".join([*names[:_LISTED], *more])


def _obligation(obligation: Obligation) -> Explanation:
    theorem = theorem_of(obligation, theorems())
    return Explanation(
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


def _theorem(theorem: Theorem) -> Explanation:
    members = [o for o in obligations().values() if o.id.startswith(theorem.id + "/")]
    counts = {status: sum(o.expect is status for o in members) for status in EXPECTATIONS}
    return Explanation(
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


def _form(form: Form) -> Explanation:
    row = next(row for row in tables.rows() if row["mnemonic"] == form.mnemonic)
    about = [o.id for o in obligations().values() if form.mnemonic in o.id.split("/")]
    return Explanation(
        f"{form.mnemonic} {form.syntax}",
        (
            ("Table row", tuple(f"{title}: {cell}" for title, cell in row.items() if cell)),
            ("Semantics", tuple(_semantics(form))),
            ("Legality rules", tuple(f"{rule.id}: {rule.reason} ({rule.source})" for rule in RULES)),
            ("Obligations", (_some(about) if about else "none names it",)),
        ),
    )


def _semantics(form: Form) -> Iterator[str]:
    match form.operation:
        case RankKUpdate() as update:
            family = update.family
            yield formula(update, masked=form.prefixed)
            yield f"for i = 0..3 and j = 0..{family.columns - 1}, in ISA element order"
            yield f"open points, at their defaults: {', '.join(f'{p.name}={p.default}' for p in OPEN_POINTS)}"
        case Move() as move:
            yield MOVE_EFFECTS[move]
        case _:
            yield f"Power ISA {form.isa} Book I"
