"""The instruction table, the encodings and the rules are those that the ISA prints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from ...spec.formats import FloatFormat, Format
from ...spec.numpy_algebra import NumpyAlgebra
from ...spec.power.builtins import PREFIX, Builtins, rank_k_updates
from ...spec.power.catalogue import FAMILIES, UPDATES, FloatFamily
from ...spec.power.choices import choices_named
from ...spec.power.encoding import LAYOUTS, decode
from ...spec.power.forms import FORMS, mask_widths
from ...spec.power.instructions import VSRS_PER_ACCUMULATOR
from ...spec.power.legality import RULES
from ...spec.power.memory import Endian
from ...spec.power.priming import ACCUMULATORS
from ...spec.power.registers import ACCUMULATOR_ROWS, REGISTER_BITS, REGISTER_BYTES
from ...spec.power.state import ASSOCIATED_VSRS, VSRS
from ...spec.power.targets import TARGETS
from ..comparison import REFUSED, broken_rules, compared, refusal_is
from ..families.generic import generic_theorems
from ..families.witnesses import witnesses
from ..obligation import Certificate
from ..table_theorem import Table, answered, table_theorem
from .stated import instructions, verdicts
from .stated import instructions as stated

STATED = f"{__package__}.stated"
"""The package of the tables."""

SOURCE = "Power ISA 3.1 Book I, sections 7.2 and 7.6, instruction formats and opcodes; Moreira et al. Table I"


forms = table_theorem(
    "power/stated/forms",
    "there are the instructions that the ISA has, with its operands",
    "mnemonics, their operands in order, the width and the multiples of each, and the ISA version are those "
    "of the table written down from the ISA; no form is missing, none is surplus",
    SOURCE,
    lambda: {"operands": _operands},
)


def _operands() -> Certificate:
    def shown(mnemonic: str) -> object:
        widths = (
            (name, len(at) + stated.FACTORS.get(name, 1).bit_length() - 1, stated.FACTORS.get(name, 1))
            for name, at in stated.operands(mnemonic).items()
        )
        return (*widths, stated.isa(mnemonic), mnemonic.startswith("pm"))

    def specified() -> Mapping[str, object]:
        return {
            mnemonic: (*((o.name, o.bits, o.multiple) for o in form.operands), form.isa, form.prefixed)
            for mnemonic, form in FORMS.items()
        }

    return compared({mnemonic: shown(mnemonic) for mnemonic in stated.MNEMONICS}, specified)


targets = table_theorem(
    "power/stated/targets",
    "targets implement the versions of the ISA that their manuals name",
    "there are the listed processors and no others; each has the listed version, and accumulators of its own "
    "or on VSRs; a machine has 64 VSRs of 16 bytes and 8 accumulators of 4 rows, on VSR[0] to VSR[31]",
    "Power ISA 3.1 section 7.2; GCC, RS/6000 and PowerPC options (-mcpu); Moreira et al. section II-A",
    lambda: {
        "versions": Table(STATED, "targets", "target", _target, TARGETS),
        "registers": Table(STATED, "registers", "what", lambda what: _MACHINE[what], _MACHINE),
    },
)


def _target(name: str) -> tuple[float, bool]:
    return TARGETS[name].isa, TARGETS[name].separate_accumulators


_MACHINE: Mapping[str, int] = {
    "VSRs": VSRS, "bytes": REGISTER_BYTES, "bits": REGISTER_BITS, "accumulators": ACCUMULATORS,
    "rows": ACCUMULATOR_ROWS, "VSRs of an accumulator": VSRS_PER_ACCUMULATOR, "VSRs of all": ASSOCIATED_VSRS,
}  # fmt: skip


updates = table_theorem(
    "power/stated/updates",
    "each rank-k update has the types, the rank, the signs and the overflow that the ISA gives it",
    "mnemonic ↦ (XO, k, types of X, Y and ACC, clamped or not, sign of the product, sign of the accumulator "
    "or none, mask widths) is the table written down from the ISA",
    SOURCE,
    lambda: {"table": Table(STATED, "updates", "mnemonic", _update, UPDATES), "masks": _masks},
)


def _update(mnemonic: str) -> tuple[object, ...]:
    update, layout = UPDATES[mnemonic], LAYOUTS[FORMS[mnemonic]]
    family = update.family
    modulo = "wraps" if str(family.result) == "s32" else "rounds"
    return (
        f"{layout.assemble(dict.fromkeys((operand.name for operand in layout.form.operands), 0)):#010x}",
        *(update.extended_opcode, family.rank, family.x, family.y, family.result),
        "clamps" if update.saturates else modulo,
        "-" if update.negative_product else "+",
        ("-" if update.negative_accumulator else "+") * update.accumulates,
    )


def _masks() -> Certificate:
    widths = {x: {mask: len(at) for mask, at in masks.items()} for x, masks in stated.MASKS.items()}
    return compared(widths, lambda: {str(family.x): dict(mask_widths(family)) for family in FAMILIES})


register_counts = table_theorem(
    "power/stated/registers",
    "operands and accumulators have the registers and columns that their types fill",
    "X is 4 x k, Y is n x k, ACC is 4 x n, a register for each row; X is two registers for f64 alone",
    SOURCE,
    lambda: {
        "table": lambda: compared(
            {row["X"]: (2, 2) if row["X"] == "f64" else (4, 1) for row in stated.UPDATES.values()},
            lambda: {str(family.x): (family.columns, family.x_registers) for family in FAMILIES},
        )
    },
)


words = table_theorem(
    "power/stated/words",
    "every form's words are those that the ISA's opcodes and field positions give",
    "the word with every operand 0 is the listed one, which primary and extended opcodes make, and each "
    "bit of each operand sets the listed bit of it; decoding finds form and operands again, so that no "
    "listed word is two instructions",
    SOURCE,
    lambda: {**{mnemonic: partial(_words, mnemonic) for mnemonic in stated.MNEMONICS}, "opcodes": _opcodes},
)


def _opcodes() -> Certificate:
    """Return the claim that the listed words are those of the primary and extended opcodes."""
    return compared(
        {mnemonic: stated.word_of_opcodes(mnemonic) for mnemonic in stated.MNEMONICS},
        lambda: {mnemonic: stated.word(mnemonic) for mnemonic in stated.MNEMONICS},
    )


def _words(mnemonic: str) -> Certificate:
    size = 64 if mnemonic.startswith("pm") else 32
    zero = stated.word(mnemonic)
    expected: dict[tuple[str, int], int] = {("", 0): zero}
    for name, places in stated.operands(mnemonic).items():
        for weight, bit in enumerate(reversed(places)):
            value = stated.FACTORS.get(name, 1) << weight
            expected[name, value] = zero | 1 << size - 1 - bit

    def specified() -> Iterator[tuple[tuple[str, int], int]]:
        form = FORMS[mnemonic]
        layout = LAYOUTS[form]
        nothing = dict.fromkeys((operand.name for operand in form.operands), 0)
        for name, value in expected:
            values = {**nothing, name: value} if name else nothing
            word = layout.assemble(values)
            yield (name, value), word if _decoded(word, size) == (mnemonic, values) else -1

    return compared(expected, specified)


@refusal_is(None)
def _decoded(word: int, size: int) -> object:
    """Return the mnemonic and the operands, modulo their widths, that a word is decoded to."""
    again = decode(*((word >> 32, word & 0xFFFFFFFF) if size == 64 else (word,)))
    return again.mnemonic, {operand.name: value % (1 << operand.bits) for operand, value in again.given()}


rank_k_built_ins = table_theorem(
    "power/stated/built-ins",
    "rank-k updates have the built-ins, operands and masks of the paper's Table II, and no others",
    "∀ built-ins of Table II that are rank-k updates: called with an accumulator, vectors (a pair where Q "
    "stands) and masks of the greatest values that the literals' widths hold, it returns an accumulator; "
    "with a mask one greater, one mask less or one more it is refused; no built-in is missing or surplus",
    "Moreira et al. Table II",
    lambda: {"table-2": _built_ins},
)


def _built_ins() -> Certificate:
    listed = {name: operands for name, operands in instructions.OPERANDS.items() if "ger" in name}
    expected: dict[str, object] = {"names": sorted(listed)}
    for name, operands in listed.items():
        masks = [int(operand[1:]) for operand in operands if operand.startswith("u")]
        expected[name] = "taken", ("refused",) * len(masks), "refused", "refused" if masks else "none"

    @refusal_is(REFUSED)
    def called(name: str, vectors: Sequence[int], masks: Sequence[int]) -> object:
        acc, *factors = (np.zeros((count, 16) if count > 1 else 16, dtype=np.uint8) for count in vectors)
        made = Builtins(NumpyAlgebra(), Endian.LITTLE).rank_k_update(name, acc, *factors, *masks)
        return "taken" if made.shape == acc.shape else "another shape"

    def specified() -> Iterator[tuple[str, object]]:
        yield from {"names": sorted(name.removeprefix(PREFIX) for name in rank_k_updates())}.items()
        for name, operands in listed.items():
            vectors = [
                instructions.VECTORS[operand] for operand in operands if operand in instructions.VECTORS
            ]
            most = [(1 << int(operand[1:])) - 1 for operand in operands if operand.startswith("u")]
            greater = [[*most[:at], most[at] + 1, *most[at + 1 :]] for at in range(len(most))]
            yield (
                name,
                (
                    called(name, vectors, most),
                    tuple(called(name, vectors, masks) for masks in greater),
                    called(name, vectors, [*most, 0]),
                    called(name, vectors, most[:-1]) if most else "none",
                ),
            )

    return compared(expected, specified)


def _formats() -> list[Format]:
    return [fmt for family in FAMILIES for fmt in (family.x, family.y, family.result)]


def _steps() -> Iterator[tuple[FloatFormat, FloatFormat, FloatFormat]]:
    for family in FAMILIES:
        if isinstance(family, FloatFamily):
            yield family.x, family.y, family.result


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


THEOREMS = (
    forms,
    updates,
    register_counts,
    targets,
    words,
    rank_k_built_ins,
    *generic_theorems("power", _formats, choices_named, _steps),
    rules,
    legal_registers,
    complete,
)
