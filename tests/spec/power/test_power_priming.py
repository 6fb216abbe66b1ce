"""The priming automaton accepts what the documents allow, and says what is wrong with the rest."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from power_programs import program, programs

from mmaproof.spec.errors import InputError
from mmaproof.spec.numpy_algebra import NumpyAlgebra
from mmaproof.spec.power.assembly import parse
from mmaproof.spec.power.catalogue import Move, RankKUpdate
from mmaproof.spec.power.forms import FORMS, Form
from mmaproof.spec.power.instructions import Instruction
from mmaproof.spec.power.priming import (
    ACCUMULATORS,
    CONDITIONS,
    RULES,
    accepted,
    after,
    check_program,
    priming,
)
from mmaproof.spec.power.targets import TARGETS

ALG = NumpyAlgebra()
FUTURE = TARGETS["future"]

SPILL = "xvf64ger 1,40,42; xxmfacc 1; stxvp 4,0(3); stxvp 6,32(3)"
REFILL = "lxvp 4,0(3); lxvp 6,32(3); xxmtacc 1"


@pytest.mark.parametrize(
    ("mnemonic", "needs_primed", "leaves_primed"),
    [
        ("xxsetaccz", False, True), ("xxmtacc", False, True), ("xxmfacc", True, False),
        ("xvf32ger", False, True), ("pmxvf32ger", False, True), ("xvi16ger2s", False, True),
        ("xvf32gerpp", True, True), ("xvbf16ger2nn", True, True), ("pmxvi8ger4spp", True, True),
    ],
)  # fmt: skip
def test_what_instructions_ask_of_their_accumulator(
    mnemonic: str, needs_primed: bool, leaves_primed: bool
) -> None:
    effect = priming(FORMS[mnemonic].operation)
    assert effect is not None
    assert (effect.needs_primed, effect.leaves_primed) == (needs_primed, leaves_primed)


@pytest.mark.parametrize("form", FORMS.values(), ids=lambda form: form.mnemonic)
def test_accumulator_instructions_prime_and_no_others_do(form: Form) -> None:
    assert (priming(form.operation) is not None) == isinstance(form.operation, RankKUpdate | Move)


@pytest.mark.parametrize(
    "text",
    [
        "xxsetaccz 0; xvf32gerpp 0,34,35; xxmfacc 0; stxv 0,0(3)",
        "xvi16ger2s 7,0,27; xvi16ger2spp 7,0,27; xxmfacc 7; xxmtacc 7",
        "lxv 4,0(3); xxmtacc 1; xxsetaccz 1; xvf32ger 1,34,35",
        "xvf32ger 1,34,35; lxv 8,0(3); stxv 3,0(3); lxvp 32,0(3)",
        f"{SPILL}; {REFILL}; xvf64gerpp 1,40,42",
    ],
)
def test_accepted_programs(text: str) -> None:
    assert check_program(program(text)) == []


REJECTED = [
    ("xvf32gerpp 0,34,35", 0, "unprimed: xvf32gerpp a0,vs34,vs35 needs a0 primed, which it is not"),
    ("xxmfacc 3", 0, "unprimed: xxmfacc a3 needs a3 primed, which it is not"),
    ("xxsetaccz 3; xxmfacc 3; xxmfacc 3", 2, "unprimed: xxmfacc a3 needs a3 primed, which it is not"),
    ("xxsetaccz 1; stxv 5,0(3)", 1, "vsr-in-use: stxv vs5,0(r3) reads vs5 while a1 is primed"),
    ("xxsetaccz 1; stxvp 6,0(3)", 1, "vsr-in-use: stxvp vs6,0(r3) reads vs6, vs7 while a1 is primed"),
    ("xxsetaccz 1; xxmtacc 1", 1, "vsr-in-use: xxmtacc a1 reads vs4, vs5, vs6, vs7 while a1 is primed"),
    ("xxsetaccz 1; xvf32ger 0,5,34", 1, "vsr-in-use: xvf32ger a0,vs5,vs34 reads vs5 while a1 is primed"),
    ("xxsetaccz 1; lxv 7,0(3)", 1, "vsr-clobber: lxv vs7,0(r3) writes vs7 and so loses what a1 holds"),
    ("xxsetaccz 1; lxvpx 4,0,3", 1, "vsr-clobber: lxvpx vs4,0,r3 writes vs4, vs5 and so loses what a1 holds"),
]


@pytest.mark.parametrize(("text", "position", "message"), REJECTED)
def test_rejected_programs(text: str, position: int, message: str) -> None:
    (misuse,) = check_program(program(text))
    assert (misuse.position, str(misuse.violation)) == (position, message)
    assert str(misuse) == f"instruction {position}: {message}"


def test_every_rule_has_a_condition_and_an_example() -> None:
    assert [rule.id for rule in RULES] == list(CONDITIONS)
    assert {message.partition(":")[0] for *_, message in REJECTED} == {rule.id for rule in RULES}


def test_a_clobbered_accumulator_has_to_be_primed_again() -> None:
    found = check_program(program("xxsetaccz 1; lxv 7,0(3); xvf32gerpp 1,34,35; xxsetaccz 1; xxmfacc 1"))
    assert [(misuse.position, misuse.violation.rule.id) for misuse in found] == [
        (1, "vsr-clobber"),
        (2, "unprimed"),
    ]


@pytest.mark.parametrize(("text", "position", "message"), REJECTED)
def test_separate_accumulators_have_no_vsrs_but_must_be_primed(
    text: str, position: int, message: str
) -> None:
    found = check_program(program(text), FUTURE)
    assert [misuse.position for misuse in found] == ([position] if message.startswith("unprimed") else [])


def test_on_separate_accumulators_no_load_loses_anything() -> None:
    assert check_program(program("xxsetaccz 1; lxv 7,0(3); xvf32gerpp 1,34,35"), FUTURE) == []


def test_a_program_has_operands() -> None:
    with pytest.raises(InputError, match="instruction 1 of the program, xvf32ger, has no operands"):
        check_program(program("xxsetaccz 1; xvf32ger"))


@given(programs)
def test_the_automaton_is_the_documents_table(instructions: list[Instruction]) -> None:
    live: set[int] = set()
    expected = []
    for position, instruction in enumerate(instructions):
        mnemonic, own = instruction.mnemonic, instruction.accumulator
        reads_accumulator = mnemonic == "xxmfacc" or mnemonic.endswith(("pp", "pn", "np", "nn"))
        reads = {n // 4 for n in instruction.vsrs_read} & live
        if reads_accumulator and own not in live:
            expected.append((position, "unprimed"))
        expected += [(position, "vsr-in-use")] * len(reads)
        if mnemonic == "xxmfacc":
            live.discard(own)
        elif own is not None:
            live.add(own)
        else:
            lost = {n // 4 for n in instruction.vsrs_written} & live
            expected += [(position, "vsr-clobber")] * len(lost)
            live -= lost
    found = check_program(instructions)
    assert sorted((m.position, m.violation.rule.id) for m in found) == sorted(expected)


@given(programs)
def test_accepted_means_that_no_rule_is_broken(instructions: list[Instruction]) -> None:
    broken = {misuse.position for misuse in check_program(instructions)}
    primed = np.zeros(ACCUMULATORS, dtype=bool)
    for position, instruction in enumerate(instructions):
        assert bool(accepted(ALG, primed, instruction)) == (position not in broken)
        primed = after(ALG, primed, instruction)


def test_register_numbers_and_priming_states_can_be_arrays() -> None:
    numbers, states = np.arange(64), np.indices((2,) * ACCUMULATORS).reshape(ACCUMULATORS, -1).T.astype(bool)
    many = Instruction(FORMS["stxv"], (numbers, 0, 0))  # type: ignore[arg-type]
    table = accepted(ALG, states[:, None, :], many)
    for number in numbers:
        one = parse(f"stxv {number},0(0)")
        np.testing.assert_array_equal(table[:, number], [bool(accepted(ALG, s, one)) for s in states])
