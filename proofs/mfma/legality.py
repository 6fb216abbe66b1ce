"""What is legal in MFMA, and its words: decided from operands by conditions that are stated independently."""

from __future__ import annotations

from functools import partial

from ...spec.mfma.assembly import parse
from ...spec.mfma.encoding import FIELDS, encode
from ...spec.mfma.legality import RULES, violations
from ...spec.mfma.targets import target_named
from ..comparison import compared, refusal_is
from ..obligation import Certificate
from ..table_theorem import answered, table_theorem
from .stated.rules import CITED, Line, broken, encoded, lines

SOURCE = "AMD CDNA4 ISA, chapter 7 and VOP3P-MAI; llvm-mc 14 to 22"


complete = table_theorem(
    "mfma/legal/complete",
    "lines about an instruction's limits are legal exactly if assembler and manual take them, with its word",
    "∀ instructions of a target with usual operands, and with sizes, places, overlaps, constants and "
    "modifiers at its own limits; ∀ changes of one operand, of the overlap of C and D, or of modifiers, "
    "around ten of them; ∀ products of changes of all operands and modifiers, around four: the rules broken "
    "are those that the operands break by the listed conditions; where there is none, the word is that of "
    "the format's fields; rules cite the contradictions of documents that are listed for them",
    SOURCE,
    lambda: {
        **{target: partial(_lines, target) for target in dict.fromkeys(line.target for line in lines())},
        "every-rule": _rules,
        "cited": _cited,
        "unencodable": _unencodable,
        "fields": _fields,
    },
)


def _lines(target: str) -> Certificate:
    of_target = [line for line in lines() if line.target == target]
    expected = {line.text(): broken(line) or encoded(line) for line in of_target}
    return compared(expected, lambda: {line.text(): _verdict(line.text(), line.target) for line in of_target})


def _verdict(text: str, target: str) -> frozenset[str] | int:
    """Return the rules that a line breaks, or its word."""
    written, on = parse(text), target_named(target)
    return frozenset(violation.rule.id for violation in violations(written, on)) or encode(written, on)


def _cited() -> Certificate:
    """Return the claim that rules cite the contradictions of documents that concern them, and no others."""
    return compared(
        CITED,
        lambda: {
            rule.id: tuple(contradiction.id for contradiction in rule.contradictions)
            for rule in RULES
            if rule.contradictions
        },
    )


def _unencodable() -> Certificate:
    """Return the claim that what has no place in the fields, or no opcode, is refused."""
    wrong = {"target", "constant", "modifier-range"}
    expected = {
        (line.text(), line.target): True
        for line in lines()
        if broken(line) & wrong and line.target != "gfx908" and "vector-operands" not in broken(line)
    }
    expected["v_mfma_f32_32x32x8_f16", "gfx942"] = True  # without operands
    return answered(expected, _is_refused)


@refusal_is(True)
def _is_refused(text: str, target: str) -> object:
    encode(parse(text), target_named(target))
    return False


def _rules() -> Certificate:
    alone: dict[str, Line] = {}
    for line in lines():
        if len(rules := broken(line)) == 1:
            alone.setdefault(next(iter(rules)), line)
    return compared(dict.fromkeys(alone, True), lambda: {rule.id: True for rule in RULES})


def _fields() -> Certificate:
    """Return the claim that the fields are all bits of a word, each in one of them."""
    return compared(
        dict.fromkeys(range(64), 1),
        lambda: {
            bit: sum(low <= bit < low + width for low, width in FIELDS.values())
            for bit in range(sum(width for _, width in FIELDS.values()))
        },
    )


THEOREMS = (complete,)
