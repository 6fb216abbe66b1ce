"""What is legal on Power: each rule refuses something alone, and registers are excluded as listed."""

from __future__ import annotations

from functools import partial

from ...spec.power.legality import RULES
from ..broken_rules import broken_rules
from ..families.witnesses import witnesses
from ..obligation import Certificate
from ..table_theorem import answered, table_theorem
from .documented import SOURCE
from .stated import verdicts

rules = witnesses(
    "power",
    "the instructions written down for the rule break it and no other; with one operand or the "
    "target changed they break none",
    SOURCE,
    partial(broken_rules, "power"),
    RULES,
)


legal_registers = table_theorem(
    "power/legal/registers",
    "an accumulator excludes its own four registers as operands, and an f64 X is an even pair",
    "of a form with a single X register and of one with a pair: ∀ AT in 0..8, ∀ X and Y in 0..64 beside a "
    "fixed other operand: legal ⇔ all exist, X is even where it is a pair, and neither is one of "
    "VSR[4 AT] to VSR[4 AT + 3]",
    "Power ISA 3.1 section 7.2; Moreira et al. sections II-B2 and II-B3",
    lambda: {mnemonic: partial(_legal_registers, mnemonic) for mnemonic in ("xvi8ger4pp", "xvf64gerpp")},
)


def _legal_registers(mnemonic: str) -> Certificate:
    pair = mnemonic == "xvf64gerpp"
    expected: dict[str, bool] = {}
    for at in range(9):
        for x, y in [(vsr, 62) for vsr in range(65)] + [(62, vsr) for vsr in range(65)]:
            used = {x, x + pair, y}
            fits = at < 8 and x < 64 and y < 64 and not (pair and x % 2)
            expected[f"{mnemonic} a{at},vs{x},vs{y}"] = fits and not used & set(range(4 * at, 4 * at + 4))
    return answered(expected, lambda text: not broken_rules("power", text, "power10"))


complete = table_theorem(
    "power/legal/complete",
    "an instruction breaks exactly the rules that the fields of its word and the registers' association say",
    "∀ instructions, ∀ products of operands about the ends of what each field can hold (X and Y also about "
    "the registers of the first and last accumulator), ∀ products of masks, too few and too many, on "
    "POWER10; one of each on the other processors: the rules broken are those decided by the written fields, "
    "the ISA version, the pairs and the registers of the accumulator",
    SOURCE,
    lambda: {name: partial(_complete, updates) for name, updates in (("updates", True), ("moves", False))},
)


def _complete(updates: bool) -> Certificate:
    return answered(
        {
            (verdicts.text(mnemonic, values), target): verdicts.broken(mnemonic, values, target)
            for mnemonic, values, target in verdicts.instructions(updates=updates)
        },
        partial(broken_rules, "power"),
    )


THEOREMS = (rules, legal_registers, complete)
