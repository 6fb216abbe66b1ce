"""What names in reports and options stand for: rules, contradictions, choices, kinds of findings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from ..gating.rule_book import rule_book
from ..refinement.findings.finding import Kind
from ..spec.choices import OpenPoint
from ..spec.instruction_set import NAMES, Description, InstructionSet, instruction_set

Sections = tuple[tuple[str, tuple[str, ...]], ...]


def explained(name: str) -> Iterator[Description]:
    """Yield what a name stands for, once for each vocabulary that has it."""
    for isa in map(instruction_set, NAMES):
        yield from _rules(isa, name)
        yield from _contradictions(isa, name)
        yield from _open_points(isa, name)
        yield from _preset(isa, name)
    rule = rule_book(()).get(name)
    if rule is not None:
        yield Description(f"rule {rule.id}", (("Reason", (rule.reason,)), ("Source", (rule.source,))))
    if name in set(Kind):
        kind = Kind(name)
        verdict = "the kernel is refuted" if kind.refutes else "the kernel is neither verified nor refuted"
        yield Description(
            f"finding {kind} of verify", (("Meaning", (kind.meaning,)), ("Verdict", (verdict,)))
        )


def names() -> Iterator[str]:
    """Yield every name that is explained."""
    for isa in map(instruction_set, NAMES):
        yield from (f"{isa.name}/{row['rule']}" for row in isa.tables["rules"]())
        yield from (row["contradiction"] for row in isa.tables["contradictions"]())
        yield from (name for point in isa.open_points for name in (point.name, *point.option_names))
        yield from isa.presets
    yield from rule_book(())
    yield from Kind


def _rules(isa: InstructionSet, name: str) -> Iterator[Description]:
    for row in isa.tables["rules"]():
        if name in (row["rule"], f"{isa.name}/{row['rule']}"):
            cells = {title: cell for title, cell in row.items() if title != "rule" and cell}
            sections = tuple((title.capitalize(), (cell,)) for title, cell in cells.items())
            yield Description(f"rule {isa.name}/{row['rule']}", sections)


def _contradictions(isa: InstructionSet, name: str) -> Iterator[Description]:
    claims = [row for row in isa.tables["contradictions"]() if row["contradiction"] == name]
    if claims:
        sides = tuple(f"{row['who']}: {row['says']}" for row in claims)
        sections: Sections = (
            ("Claims", sides),
            ("Taken here", (claims[0]["taken here"],)),
            ("Source", (claims[0]["source"],)),
        )
        yield Description(f"contradiction {name} of {isa.name}", sections)


def _open_points(isa: InstructionSet, name: str) -> Iterator[Description]:
    for point in isa.open_points:
        options = {f"{point.name}={option}": meaning for option, meaning in point.options}
        if name == point.name:
            lines = (f"{option}: {meaning}" for option, meaning in point.options)
            yield _of_point(isa, point, f"open point {name}", tuple(lines))
        for option, meaning in options.items():
            if name in (option, option.partition("=")[2]):
                yield _of_point(isa, point, f"choice {option}", (meaning,))


def _of_point(isa: InstructionSet, point: OpenPoint, title: str, meaning: tuple[str, ...]) -> Description:
    heading = "Readings" if len(meaning) > 1 else "Meaning"
    sections = ((heading, meaning), ("Default", (point.default,)), ("Source", (point.source,)))
    return Description(f"{title} of {isa.name}", sections)


def _preset(isa: InstructionSet, name: str) -> Iterator[Description]:
    if name not in isa.presets or name in {n for point in isa.open_points for n in point.option_names}:
        return
    taken = isa.presets[name]
    lines = (f"{field.name.replace('_', '-')}={getattr(taken, field.name)}" for field in fields(taken))
    yield Description(f"choices {name} of {isa.name}", (("Readings", tuple(lines)),))
