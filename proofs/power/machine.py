"""Steps of a machine, masks and machine code of Power are as the ISA's prose has them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from functools import partial

import numpy as np

from ...spec.errors import InputError
from ...spec.formats import IntegerFormat
from ...spec.numpy_algebra import NumpyAlgebra
from ...spec.power.assembly import parse
from ...spec.power.builtins import live_products
from ...spec.power.catalogue import UPDATES
from ...spec.power.choices import Choices, every_choice
from ...spec.power.encoding import decode, disassemble
from ...spec.power.forms import FORMS
from ...spec.power.instructions import Instruction
from ...spec.power.legality import RULES
from ...spec.power.memory import Endian
from ...spec.power.registers import ByteImage
from ...spec.power.state import State, step, with_groups
from ..comparison import REFUSED, compared, refusal_is, refused
from ..obligation import Certificate
from ..stated import choices
from ..table_theorem import Table, answered, table_theorem
from .documented import STATED
from .stated import machine as stated

machine = table_theorem(
    "power/stated/machine",
    "an instruction changes the registers that the ISA names, and no others; words are read by its forms",
    "∀ listed updates (with masks, and without): all VSRs and accumulators afterwards, where accumulators "
    "are registers of their own and where they are VSRs; moves between the two; masks of word forms are all "
    "ones, those of others are in range, first bit first; every reading of the open points is there; how "
    "many operands there are; where a register's elements begin; why a word is none; code of several words",
    "Power ISA 3.1 sections 1.6, 7.2.1.3 and 7.6.1.12; Moreira et al. sections II-A and II-B",
    lambda: {
        "updates": _updates,
        "moves": _moves,
        "masks": _masks,
        "operands": Table(STATED, "operand_counts", "mnemonic", _operands),
        "places": _places,
        "grouped": _grouped,
        "readings": _readings,
        "reasons": Table(STATED, "reasons", "words", _reason),
        "code": _code,
        "cited": _cited,
    },
)


def _stepped(text: str, before: stated.Machine, aliasing: str) -> object:
    vsr, acc = before
    after = step(NumpyAlgebra(), State(vsr, acc), parse(text), Choices(aliasing=aliasing))
    return after.vsr.tolist(), after.acc.tolist()


def _shared(given: stated.Machine) -> stated.Machine:
    """Return a machine whose accumulators are its first 32 VSRs."""
    vsr, acc = given
    return np.concatenate([acc.reshape(32, 16), vsr[32:]]), np.zeros_like(acc)


def _updates() -> Certificate:
    runs: dict[tuple[str, str], tuple[stated.Machine, stated.Machine]] = {}
    for text, (name, at, x, y, *masks) in stated.UPDATES:
        before, after = stated.update(name, at, x, y, *masks)
        runs[text, "separate"] = before, after
        if min(x, y) >= 32:
            runs[text, "shared"] = _shared(before), _shared(after)
    expected = {key: (after[0].tolist(), after[1].tolist()) for key, (_, after) in runs.items()}
    return compared(
        expected, lambda: {key: _stepped(key[0], before, key[1]) for key, (before, _) in runs.items()}
    )


def _moves() -> Certificate:
    vsr, acc = stated.machine()
    zeroed, primed, unprimed = acc.copy(), acc.copy(), vsr.copy()
    zeroed[6] = 0
    primed[6] = vsr[24:28]
    unprimed[24:28] = acc[6]
    alone = {"xxsetaccz a6": (vsr, zeroed), "xxmtacc a6": (vsr, primed), "xxmfacc a6": (unprimed, acc)}
    none = vsr.copy()
    none[24:28] = 0
    together = {"xxsetaccz a6": (none, acc), "xxmtacc a6": (vsr, acc), "xxmfacc a6": (vsr, acc)}
    return answered(
        {
            (text, aliasing): (after[0].tolist(), after[1].tolist())
            for aliasing, moves in (("separate", alone), ("shared", together))
            for text, after in moves.items()
        },
        lambda *key: _stepped(key[0], (vsr, acc), key[1]),
    )


def _masks() -> Certificate:
    """Return the claim on masks of word forms, and on those that built-ins take."""
    expected: dict[object, object] = dict(stated.MASKS.items())
    for name, ones in stated.MASKS.items():
        expected[name, "live"] = [[True] * mask.bit_length() for mask in ones]
        given = ones if ones[-1] > 1 else ones[:-1]  # of one product there is no mask
        for place, mask in enumerate(given):
            expected[name, (*given[:place], mask + 1, *given[place + 1 :])] = "refused"
            expected[name, (*given[:place], 1, *given[place + 1 :])] = [
                [all_live or bit == mask.bit_length() - 1 for bit in range(mask.bit_length())]
                for all_live, mask in zip((at != place for at in range(3)), ones, strict=True)
            ]
        expected[name, given[:-1]] = "refused"

    @refusal_is(REFUSED)
    def live(name: str, masks: tuple[int, ...] | None) -> object:
        return [list(map(bool, product)) for product in live_products(NumpyAlgebra(), UPDATES[name], masks)]

    def specified() -> Mapping[object, object]:
        found: dict[object, object] = {name: parse(f"{name} a0,vs34,vs36").masks for name in stated.MASKS}
        for key in expected:
            if isinstance(key, tuple):
                name, masks = key
                found[key] = live(name, None if masks == "live" else masks)
        return found

    return compared(expected, specified)


def _operands(mnemonic: str) -> list[int]:
    """Return how many operands an instruction may have."""
    return [n for n in range(9) if not refused(partial(Instruction, FORMS[mnemonic], (0,) * n))]


def _places() -> Certificate:
    expected = {
        bits: [(place * bits // 8, place * bits) for place in range(128 // bits)] for bits in stated.WIDTHS
    }

    def specified() -> Iterator[tuple[int, object]]:
        for bits in stated.WIDTHS:
            image = ByteImage(IntegerFormat("element", bits, signed=False), bits)
            places = image.places(np.arange(128 // bits))
            yield bits, list(zip(places["byte"].tolist(), places["bit"].tolist(), strict=True))

    return compared(expected, specified)


def _grouped() -> Certificate:
    """Return the claim on VSRs whose first 32 are replaced, for every state of a batch."""
    vsr = (np.arange(3 * 64 * 16) * 31 % 251).astype(np.uint8).reshape(3, 64, 16)
    acc = (np.arange(3 * 8 * 4 * 16) * 17 % 241).astype(np.uint8).reshape(3, 8, 4, 16)
    pairs = {"both": (vsr, acc), "of VSRs": (vsr, acc[0]), "of accumulators": (vsr[0], acc)}
    expected: dict[str, object] = {}
    for name, (some, others) in pairs.items():
        parts = [
            [*(others if others.ndim == 3 else others[at]).reshape(32, 16).tolist(),
             *(some if some.ndim == 2 else some[at])[32:].tolist()]
            for at in range(3)
        ]  # fmt: skip
        expected[name] = parts
    return compared(
        expected, lambda: {name: with_groups(some, others).tolist() for name, (some, others) in pairs.items()}
    )


def _readings() -> Certificate:
    """Return the claim on all combinations of readings, of all open points or of some."""
    points = {point.replace("-", "_"): readings for point, readings in choices.points("power").items()}
    chosen: dict[tuple[str, ...], tuple[str, ...]] = {(): tuple(points), ("nan",): ("nan",)}
    chosen["nan", "bf16-sum"] = "nan", "bf16_sum"
    expected = {
        names: sorted(
            itertools.product(*(each if point in some else each[:1] for point, each in points.items()))
        )
        for names, some in chosen.items()
    }
    return compared(
        expected,
        lambda: {
            names: sorted(tuple(getattr(each, point) for point in points) for each in every_choice(*names))
            for names in chosen
        },
    )


def _reason(words: str) -> str | None:
    """Return what is said of words that are no instruction."""
    try:
        decode(*(int(word, 16) for word in words.split()))
    except InputError as error:
        return str(error)
    return None


def _code() -> Certificate:
    def lengths(order: Endian) -> tuple[int, ...]:
        words = [bytes.fromhex(word) for word in stated.CODE.split()]
        code = b"".join(word if order is Endian.BIG else word[::-1] for word in words)
        starts = [at for at, _ in disassemble(code, order)]
        return tuple(end - start for start, end in zip(starts, [*starts[1:], len(code)], strict=True))

    return compared(
        dict.fromkeys(map(str, Endian), stated.CODE_LENGTHS),
        lambda: {str(order): lengths(order) for order in Endian},
    )


def _cited() -> Certificate:
    cited = {rule.id: tuple(contradiction.id for contradiction in rule.contradictions) for rule in RULES}
    return compared(stated.CITED, lambda: {rule: ids for rule, ids in cited.items() if ids})


THEOREMS = (machine,)
