"""Rules judge whatever an instruction set calls an instruction and a target."""

from __future__ import annotations

from collections.abc import Iterator

from mmaproof.spec.legality import Contradiction, Rule, violations
from mmaproof.spec.tables import contradiction_rows, rule_rows

DISPUTE = Contradiction("limit", (("one manual", "8"), ("another", "16")), "16", "the assembler")


def too_large(value: int, limit: int) -> Iterator[str]:
    if value > limit:
        yield f"{value} is more than {limit}"


def odd_digits(value: int, _: int) -> Iterator[str]:
    return (f"digit {digit} is odd" for digit in str(value) if int(digit) % 2)


RULES = (
    Rule("limit", "not above the limit", "section 1", too_large, (DISPUTE,)),
    Rule("even", "all digits are even", "section 2", odd_digits),
)


def test_every_violation_of_every_rule_is_returned_in_order() -> None:
    assert [str(violation) for violation in violations(RULES, 315, 100)] == [
        "limit: 315 is more than 100",
        "even: digit 3 is odd",
        "even: digit 1 is odd",
        "even: digit 5 is odd",
    ]
    assert [violation.rule for violation in violations(RULES, 315, 1000)] == [RULES[1]] * 3
    assert violations(RULES, 24, 100) == []


def test_rows() -> None:
    assert [row["contradictions"] for row in rule_rows(RULES)] == ["limit", ""]
    assert [(row["contradiction"], row["who"], row["says"]) for row in contradiction_rows([DISPUTE])] == [
        ("limit", "one manual", "8"),
        ("limit", "another", "16"),
    ]
