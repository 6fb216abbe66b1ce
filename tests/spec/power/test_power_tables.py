"""The generated tables cover the catalogue and agree with the rules."""

from __future__ import annotations

import pytest

from mmaproof.spec.legality import Contradiction
from mmaproof.spec.power.contradictions import CONTRADICTIONS
from mmaproof.spec.power.encoding import decode, encode
from mmaproof.spec.power.forms import FORMS
from mmaproof.spec.power.instructions import Instruction
from mmaproof.spec.power.legality import RULES
from mmaproof.spec.power.tables import COLUMNS, contradiction_rows, rows, rule_rows

ROWS = {row["mnemonic"]: row for row in rows()}


def test_there_is_one_row_for_each_form_with_every_column() -> None:
    assert list(ROWS) == list(FORMS)
    assert all(tuple(row) == tuple(COLUMNS) for row in ROWS.values())


@pytest.mark.parametrize("mnemonic", FORMS)
def test_the_encoding_column_is_the_word_with_every_operand_zero(mnemonic: str) -> None:
    words = tuple(int(word, 16) for word in ROWS[mnemonic]["encoding"].split())
    zero = Instruction(FORMS[mnemonic], (0,) * len(FORMS[mnemonic].operands))
    assert encode(zero) == words
    assert decode(*words) == zero


@pytest.mark.parametrize(
    ("mnemonic", "expected"),
    [
        (
            "pmxvi8ger4spp",
            {
                "operands": "AT,XA,XB,XMSK,YMSK,PMSK", "encoding": "0x07900000 0xec000318", "k": "4",
                "X": "s8 4x4", "Y": "u8 4x4", "result": "s32 4x4", "arithmetic": "saturating",
                "accumulator": "needs primed", "XMSK": "4", "YMSK": "4", "PMSK": "4",
                "constraints": "AT 0..7; XA 0..63; XB 0..63; XMSK 0..15; YMSK 0..15; PMSK 0..15; "
                "XA and XB not in VSR[4AT..4AT+3] (except future)",
                "targets": "power10, power11, future",
            },
        ),
        (
            "pmxvf64ger",
            {
                "k": "1", "X": "f64 4x1", "Y": "f64 2x1", "result": "f64 4x2", "arithmetic": "IEEE 754",
                "accumulator": "primes", "XMSK": "4", "YMSK": "2", "PMSK": "",
                "constraints": "AT 0..7; XAp 0..62, even; XB 0..63; XMSK 0..15; YMSK 0..3; "
                "XAp and XB not in VSR[4AT..4AT+3] (except future)",
            },
        ),
        ("xvi16ger2", {"arithmetic": "modulo", "accumulator": "primes", "XMSK": "", "PMSK": ""}),
        ("xxmfacc", {"operands": "AS", "k": "", "X": "", "accumulator": "needs primed, unprimes"}),
        ("xxsetaccz", {"accumulator": "primes"}),
        (
            "lxvp",
            {
                "operands": "XTp,D(RA)", "accumulator": "", "targets": "power10, power11, future",
                "constraints": "XTp 0..62, even; D -32768..32752, a multiple of 16; RA 0..31",
            },
        ),
    ],
)  # fmt: skip
def test_rows(mnemonic: str, expected: dict[str, str]) -> None:
    assert {title: ROWS[mnemonic][title] for title in expected} == expected


def test_rules_and_contradictions_are_listed() -> None:
    assert [row["rule"] for row in rule_rows()] == [rule.id for rule in RULES]
    assert all(all(row[title] for title in ("rule", "reason", "source")) for row in rule_rows())
    claims = [(entry.id, *claim) for entry in CONTRADICTIONS for claim in entry.claims]
    assert [(row["contradiction"], row["who"], row["says"]) for row in contradiction_rows()] == claims


def test_ids_are_unique() -> None:
    for ids in ([rule.id for rule in RULES], [entry.id for entry in CONTRADICTIONS]):
        assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("entry", CONTRADICTIONS, ids=lambda entry: entry.id)
def test_a_contradiction_has_two_sides_and_a_choice(entry: Contradiction) -> None:
    assert len({what for _, what in entry.claims}) >= 2
    assert entry.side and entry.source


def test_a_rules_contradictions_are_listed_ones() -> None:
    assert all(entry in CONTRADICTIONS for rule in RULES for entry in rule.contradictions)
    assert any(rule.contradictions for rule in RULES)
