"""Each rule alone refuses an instruction: legal instructions, and the change of each that breaks a rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Protocol

from ..comparison import compared
from ..obligation import Certificate, Theorem
from ..table_theorem import Comparisons, answered, table_theorem
from ..text_tables import table

Broken = Callable[..., frozenset[str]]
"""Returns the rules that a text breaks, on what the columns after `legal` in the table say."""


class Named(Protocol):
    """A rule."""

    @property
    def id(self) -> str:
        """Its name."""


def witnesses(
    isa: str, statement: str, source: str, broken: Broken, rules: Iterable[Named] | None = None
) -> Theorem:
    """Return that each rule of ``witnesses.tsv`` is broken as it says, and no other rule with it.

    Parameters
    ----------
    isa, statement, source : str
        Whose rules they are, what the theorem says, and where it is from.
    broken : callable
        Asks the specification.
    rules : iterable, optional
        All rules, if the table is to have every one.
    """
    package = f"{__package__.rpartition('.')[0]}.{isa}.stated"

    def comparisons() -> Comparisons:
        named = dict.fromkeys((row["rule"] for row in table(package, "witnesses")), True)
        every = {rule.id: True for rule in rules or ()}
        alone = {rule: partial(_alone, package, rule, broken) for rule in named}
        return alone if rules is None else {**alone, "every-rule": lambda: compared(named, lambda: every)}

    subject = "each rule alone refuses an instruction" if rules else "rules alone refuse a statement"
    title = f"{subject}, and nothing refuses its legal neighbour"
    return table_theorem(f"{isa}/legal/rule", title, statement, source, comparisons)


def _alone(package: str, rule: str, broken: Broken) -> Certificate:
    return answered(dict(_judgements(package, rule)), broken)


def _judgements(package: str, rule: str) -> Iterator[tuple[tuple[str, ...], frozenset[str]]]:
    """Yield the legal instructions of a rule, and what each becomes, with what they break."""
    for of, text, this, that, *at in (row.values() for row in table(package, "witnesses")):
        if of == rule:
            yield (text, *at), frozenset()
            place = [that if each == this else each for each in at]
            yield (text if place != at else text.replace(this, that), *place), frozenset({rule})
