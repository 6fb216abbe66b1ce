"""What an id, a mnemonic or another name stands for, in words and mathematics."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from html import escape

from ..proofs.catalogue import matching, obligations, theorems
from ..proofs.induction import Induction
from ..proofs.instances import Entailment
from ..proofs.listing import about
from ..proofs.obligation import (
    Certificate,
    Deduction,
    IntegerProperty,
    Obligation,
    RealProperty,
    RefutableProperty,
    Status,
    Theorem,
    theorem_of,
)
from ..proofs.recorded_methods import recorded_method, recorded_methods
from ..proofs.verdict import MEANINGS, meaning
from ..spec.errors import InputError, MmaproofError, UnsupportedError
from ..spec.instruction_set import (
    NAMES,
    Description,
    instruction_set,
    of_instruction,
    read,
    recognised,
)
from ..spec.unmodelled import refuse_unmodelled
from .foreign_spellings import in_listings, own_spelling
from .instruction_sections import contradictions, layouts
from .notebook import heading, preformatted

_LISTED = 8
"""How many ids a message or a section spells out."""

EXPECTATIONS = {
    Status.PROVED: "proved",
    Status.REFUTED: "refuted: a pinned non-theorem, whose counterexample is part of the statement",
}


class Explanation(Description):
    """What a name stands for; a notebook shows it."""

    def _repr_html_(self) -> str:
        sections = (f"<b>{escape(title)}</b>{preformatted(lines)}" for title, lines in self.sections if lines)
        return heading(self.title) + "".join(sections)


def explain(identifier: str) -> Explanation:
    """Explain an obligation, a theorem (by id or unique prefix), an instruction, or a name of the glossary.

    Raises
    ------
    InputError
        If nothing is called so, or a prefix is not unique.
    UnsupportedError
        If it is an instruction that is known, but not modelled.
    """
    found = _found(identifier)
    return Explanation(found.title, found.sections)


def _found(identifier: str) -> Description:
    if not identifier.strip():
        raise InputError("a name is expected, such as m16n8k16, ptx/target or race, not an empty one")
    by_id = {theorem.id: theorem for theorem in theorems((identifier,))}
    if identifier in obligations():
        return _obligation(obligations()[identifier])
    if identifier in by_id:
        return _theorem(by_id[identifier])
    text = own_spelling(identifier)
    try:
        return _instruction(text)
    except (InputError, UnsupportedError) as error:
        refused: MmaproofError = error
    for spelling in (text, *in_listings(identifier)):
        refuse_unmodelled(spelling)
    if (found := _vocabulary(identifier, text)) is not None:
        return found
    named: list[Theorem | Obligation] = [t for name, t in by_id.items() if name.startswith(identifier)]
    named = named or [o for o in matching((identifier,)) if o.id.startswith(identifier)]
    match named:
        case [Theorem() as theorem]:
            return _theorem(theorem)
        case [Obligation() as obligation]:
            return _obligation(obligation)
        case [_, *_]:
            raise InputError(f"{identifier!r} is not unique: {_some([entry.id for entry in named])}")
    if (found := _illegal(text) or _in_passing(identifier, text)) is not None:
        return found
    if isinstance(refused, UnsupportedError):
        raise refused
    close = _close(identifier[:80])
    if recognised(text) is not None and (not close or " " in text.strip()):
        raise refused
    hint = f"did you mean {' or '.join(close)}?" if close else "mmaproof list and tables show what there is"
    raise InputError(f"nothing is called {identifier!r}; {hint}")


def _vocabulary(identifier: str, text: str) -> Description | None:
    """Say what a name means in rules, options, reports and tables."""
    from . import glossary, kernel_opcodes, table_words  # rarely asked, and the gate's rules are behind them

    if identifier in NAMES:
        return table_words.overview(instruction_set(identifier))
    terms = [*glossary.explained(identifier.removeprefix("verify/")), *table_words.explained(text)]
    if terms and recognised(text) is None:
        terms += kernel_opcodes.explained(text)
    return _joined(identifier, terms) if terms else None


def _in_passing(identifier: str, text: str) -> Description | None:
    """Say where else a name stands: among instructions of kernels, in what theorems are about."""
    from . import kernel_opcodes

    if recognised(text) is None and (opcodes := [*kernel_opcodes.explained(text)]):
        return _joined(identifier, opcodes)
    speaking = [theorem for theorem in theorems() if _speaks_of(theorem, identifier)]
    if not speaking:
        return None
    return Description(identifier, (("Theorems", tuple(f"{each.id}: {each.title}" for each in speaking)),))


def _close(identifier: str) -> list[str]:
    """Return names that are spelled alike: ids for an id, instructions of its ISA for an instruction."""
    from . import glossary, table_words

    if "/" in identifier:
        names = [*(theorem.id for theorem in theorems()), *glossary.names()]
        names += [o.id for o in matching((identifier.partition("/")[0] + "/",))]
    else:
        try:
            mnemonics = [row["mnemonic"] for row in of_instruction(identifier).instructions()]
            names = [*mnemonics, *(name.partition(".")[0] for name in mnemonics)]
        except InputError:
            names = [*glossary.names(), *table_words.words()]
    return get_close_matches(identifier, dict.fromkeys(names), n=3, cutoff=0.5)


def _joined(name: str, found: Sequence[Description]) -> Description:
    """Return one description of a name that stands for several things."""
    if len(found) == 1:
        return found[0]
    sections = (
        (f"{description.title}: {title}", lines)
        for description in found
        for title, lines in description.sections
    )
    return Description(name, tuple(sections))


def _some(names: list[str]) -> str:
    more = [f"and {len(names) - _LISTED} more"] if len(names) > _LISTED else []
    return ", ".join([*names[:_LISTED], *more])


def _obligation(obligation: Obligation) -> Description:
    theorem = theorem_of(obligation, {each.id: each for each in theorems((obligation.id,))})
    return Description(
        obligation.id,
        (
            ("Statement", tuple(obligation.statement.splitlines())),
            ("Variables", tuple(_variables(obligation))),
            ("Theorem", (f"{theorem.id}: {theorem.title}", *theorem.statement.splitlines())),
            ("Expected", (EXPECTATIONS[obligation.expect],)),
            ("Equality", (f"{obligation.equality}: {obligation.equality.meaning}",)),
            ("Decided by", tuple(_deciding(obligation.id))),
            ("Choices", (obligation.choices,)),
            ("Source", (obligation.source or theorem.source,)),
        ),
    )


def _deciding(identifier: str) -> Iterator[str]:
    """Say what decided an obligation when that was last recorded, and what its second witness."""
    method, _, witness = recorded_method(identifier).partition(", ")
    if method in MEANINGS:
        yield f"{method}: {meaning(method)}"
        if witness:
            yield f"{witness}, the second witness: {meaning(witness)}"
    elif method:
        yield f"{recorded_method(identifier)}: {meaning(recorded_method(identifier))}"


def _variables(obligation: Obligation) -> Iterator[str]:
    goal = obligation.goal()
    if isinstance(goal, Induction):
        yield f"for every n: {goal.formula.text}"
    if isinstance(goal, Entailment):
        yield "follows, for all of the variables below, from instances of"
        for premise in goal.premises:
            yield f"{premise}: {obligations()[premise].statement}"
        goal = goal.conclusion
    if isinstance(goal, Deduction):
        yield f"premises: {', '.join(goal.premises)}"
        return
    if isinstance(goal, Certificate):
        if goal.witness is None:
            yield f"{goal.points} entries, compared"
            return
        yield f"{goal.points} points, enumerated; for the solver:"
        goal = goal.witness
    if isinstance(goal, RefutableProperty):
        yield from (f"{name}: {sort}" for name, sort in goal.sorts.items())
        return
    if isinstance(goal, RealProperty):
        yield "any real numbers and exponents, of which what the statement says is true"
        return
    for variable in goal.variables:
        extents = f"[{', '.join(map(str, variable.shape))}]" if variable.shape else ""
        kind = "integer" if isinstance(goal, IntegerProperty) else variable.format
        yield f"{variable.name}: {kind}{extents}"


def _theorem(theorem: Theorem) -> Description:
    members = list(theorem.obligations())
    counts = {status: sum(o.expect is status for o in members) for status in EXPECTATIONS}
    return Description(
        f"{theorem.id}: {theorem.title}",
        (
            ("Statement", tuple(theorem.statement.splitlines())),
            ("Source", (theorem.source,)),
            ("Decided by", recorded_methods(o.id for o in members)),
            (
                "Obligations",
                (
                    f"{counts[Status.PROVED]} expected proved, {counts[Status.REFUTED]} pinned refutations",
                    _some([o.id for o in members]),
                ),
            ),
        ),
    )


def _speaks_of(theorem: Theorem, word: str) -> bool:
    """Whether a word of the language, or how it begins, stands in a theorem's id or title."""
    said = f"{theorem.id} {theorem.title}".lower()
    return word.isalpha() and re.search(rf"\b{word.lower()}", said) is not None


def _illegal(text: str) -> Description | None:
    """Say which rules an instruction violates; None if it is not even written as one, or violates none."""
    if recognised(text) is None:
        return None
    try:
        judgement = (instruction := read(text)).legal()
    except InputError:
        return None
    if not judgement.violations:
        return None
    wrong = (line for v in judgement.violations for line in (str(v), f"  {v.rule.reason} ({v.rule.source})"))
    return Description(
        instruction.mnemonic,
        (
            (f"Illegal on {judgement.target}", tuple(wrong)),
            ("Spelled alike, and legal", tuple(_close(instruction.mnemonic))),
        ),
    )


def _instruction(text: str) -> Description:
    isa = of_instruction(text)
    instruction = isa.read(text)
    described = instruction.describe()
    wrong = (str(violation) for violation in instruction.legal().violations)
    lines = []
    for theorem, found in about(isa.name, instruction.mnemonic).items():
        lines.append(f"{theorem.id}: {theorem.title}")
        lines.append(f"  {_some([description.removeprefix(theorem.id + '/') for description in found])}")
    return Description(
        described.title,
        (
            ("Illegal as it is written", tuple(wrong)),
            *described.sections,
            ("Layouts", tuple(layouts(instruction))),
            ("Theorems", tuple(lines)),
            ("Contradictions that name it or its shape", tuple(contradictions(isa, instruction))),
        ),
    )
