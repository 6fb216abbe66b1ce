"""Machine steps: what they change and compute, and which programs tell the two machines apart."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from power_instructions import of_form
from power_programs import REGISTER_FORMS, program, programs

from mmaproof.spec.algebra import Array
from mmaproof.spec.errors import InputError
from mmaproof.spec.numpy_algebra import NumpyAlgebra
from mmaproof.spec.power.assembly import parse
from mmaproof.spec.power.choices import Choices
from mmaproof.spec.power.forms import FORMS, Transfer
from mmaproof.spec.power.instructions import Instruction, associated_vsrs
from mmaproof.spec.power.legality import violations
from mmaproof.spec.power.memory import Endian, load, store
from mmaproof.spec.power.operand_arrays import execute
from mmaproof.spec.power.priming import ACCUMULATORS, check_program
from mmaproof.spec.power.registers import REGISTER_BYTES
from mmaproof.spec.power.state import (
    VSRS,
    State,
    accumulators,
    groups,
    joined,
    operands,
    rows,
    step,
    with_groups,
)
from mmaproof.spec.power.targets import TARGETS

ALG = NumpyAlgebra()
MACHINES = {name: Choices(aliasing=name) for name in ("shared", "separate")}

seeds = st.integers(0, 2**32 - 1)
instructions = st.sampled_from(REGISTER_FORMS).flatmap(of_form)


def random_state(seed: int) -> State:
    rng = np.random.default_rng(seed)
    shapes = (VSRS, REGISTER_BYTES), (ACCUMULATORS, 4, REGISTER_BYTES)
    return State(*(rng.integers(0, 256, shape, dtype=np.uint8) for shape in shapes))


def loaded_by(instruction: Instruction, seed: int) -> Array | None:
    if not isinstance(instruction.operation, Transfer) or instruction.operation.store:
        return None
    shape = len(instruction.vsrs_written), REGISTER_BYTES
    return np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)


def stepped(state: State, instruction: Instruction, machine: str, seed: int = 0) -> State:
    with np.errstate(all="ignore"):
        return step(ALG, state, instruction, MACHINES[machine], loaded=loaded_by(instruction, seed))


@pytest.mark.parametrize("machine", MACHINES)
@given(instruction=instructions, seed=seeds)
def test_a_step_changes_only_what_the_instruction_writes(
    machine: str, instruction: Instruction, seed: int
) -> None:
    before = random_state(seed)
    after = stepped(before, instruction, machine)
    vsrs, accs = {*instruction.vsrs_written}, set()
    if instruction.accumulator is not None and instruction.mnemonic != "xxmfacc":
        accs.add(instruction.accumulator)
        if machine == "shared":
            vsrs |= {*associated_vsrs(instruction.accumulator)}
    if machine == "shared":
        accs |= {n // 4 for n in vsrs if n < 32}
    for number in {*range(VSRS)} - vsrs:
        np.testing.assert_array_equal(after.vsr[number], before.vsr[number])
    views = accumulators(before, machine), accumulators(after, machine)
    for number in {*range(ACCUMULATORS)} - accs:
        np.testing.assert_array_equal(views[1][number], views[0][number])


@pytest.mark.parametrize("machine", MACHINES)
@given(instruction=instructions, seed=seeds)
def test_a_step_computes_what_execute_does(machine: str, instruction: Instruction, seed: int) -> None:
    if isinstance(instruction.operation, Transfer) or violations(instruction, TARGETS["power10"]):
        return
    before = random_state(seed)
    number = instruction.accumulator
    assert number is not None
    acc = joined(accumulators(before, machine))[number]
    if instruction.mnemonic in ("xxsetaccz", "xxmfacc", "xxmtacc"):
        own = {"xxsetaccz": {}, "xxmfacc": {"acc": acc}, "xxmtacc": {"vsr": groups(before.vsr)[number]}}
        arrays = own[instruction.mnemonic]
    else:
        *x, y = instruction.vsrs_read
        arrays = {"x": np.concatenate(before.vsr[x]), "y": before.vsr[y]}
        if instruction.mnemonic.endswith(("pp", "pn", "np", "nn")):
            arrays["acc"] = acc
    expected = execute(instruction, arrays, as_registers=True)
    after = stepped(before, instruction, machine)
    if "vsr" in expected:
        np.testing.assert_array_equal(groups(after.vsr)[number], expected["vsr"])
    else:
        np.testing.assert_array_equal(joined(accumulators(after, machine))[number], expected["acc"])


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("endian", Endian)
def test_loads_and_stores_move_memory(machine: str, endian: Endian) -> None:
    state = random_state(1)
    data = np.arange(32, dtype=np.uint8)
    state = step(ALG, state, parse("lxvp 36,0(3)"), MACHINES[machine], loaded=load(data, endian))
    read = operands(ALG, state, parse("stxvp 36,0(4)"), machine)
    assert read.acc is None and read.vsrs is not None
    np.testing.assert_array_equal(store(read.vsrs, endian), data)


def test_a_load_needs_what_it_loads() -> None:
    with pytest.raises(InputError, match=r"lxv vs4,0\(r3\) needs the registers it loads"):
        step(ALG, random_state(0), parse("lxv 4,0(3)"), Choices())


@given(seeds)
def test_groups_are_the_associated_vsrs(seed: int) -> None:
    vsr = random_state(seed).vsr
    for number, group in enumerate(groups(vsr)):
        np.testing.assert_array_equal(group, vsr[list(associated_vsrs(number))])
    np.testing.assert_array_equal(with_groups(vsr, groups(vsr)), vsr)
    np.testing.assert_array_equal(rows(joined(groups(vsr))), groups(vsr))


def run_on_both(instructions: list[Instruction], seed: int) -> tuple[list[list[bytes]], dict[str, State]]:
    """Return what each instruction reads on the two machines, and the states they end in."""
    states = dict.fromkeys(MACHINES, random_state(seed))
    seen: list[list[bytes]] = []
    for position, instruction in enumerate(instructions):
        seen.append([])
        for machine, state in states.items():
            read = operands(ALG, state, instruction, machine)
            seen[-1].append(b"|".join(part.tobytes() for part in read if part is not None))
            states[machine] = stepped(state, instruction, machine, seed + position)
    return seen, states


@given(programs, seeds)
def test_accepted_programs_read_the_same_on_both_machines(candidates: list[Instruction], seed: int) -> None:
    accepted: list[Instruction] = []
    for instruction in candidates:
        if not check_program([*accepted, instruction]):
            accepted.append(instruction)
    seen, _ = run_on_both(accepted, seed)
    assert all(shared == separate for shared, separate in seen)


@pytest.mark.parametrize(
    "text",
    [
        "xxmfacc 0",
        "xvi16ger2pp 0,34,35",
        "xvf32ger 1,34,35; stxv 5,0(3)",
        "xvi16ger2 1,34,35; xvi16ger2 0,5,36",
        "xvi16ger2 1,34,35; xxmtacc 1; xvi16ger2pp 1,34,35",
        "xxsetaccz 1; lxv 4,0(3); xxmfacc 1; stxv 4,0(3)",
    ],
)
def test_rejected_programs_tell_the_machines_apart(text: str) -> None:
    instructions = program(text)
    assert check_program(instructions)
    seen, _ = run_on_both(instructions, 7)
    assert any(shared != separate for shared, separate in seen)


@pytest.mark.parametrize("machine", MACHINES)
def test_a_loop_of_rank_1_updates_is_a_matrix_product(machine: str) -> None:
    rng = np.random.default_rng(3)
    a, b = rng.integers(-9, 9, (4, 5)).astype(">f4"), rng.integers(-9, 9, (5, 4)).astype(">f4")
    state = stepped(random_state(3), parse("xxsetaccz 2"), machine)
    for k in range(5):
        state.vsr[34], state.vsr[35] = (np.frombuffer(v.tobytes(), np.uint8) for v in (a[:, k], b[k]))
        state = stepped(state, parse("xvf32gerpp 2,34,35"), machine)
    state = stepped(state, parse("xxmfacc 2"), machine)
    np.testing.assert_array_equal(groups(state.vsr)[2].copy().view(">f4"), a @ b)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("mnemonic", ["xvi8ger4pp", "xxmfacc", "xxmtacc", "xxsetaccz"])
def test_register_numbers_can_be_arrays(mnemonic: str, machine: str) -> None:
    form = FORMS[mnemonic]
    rng = np.random.default_rng(5)
    numbers = np.array([rng.choice(operand.values, 6) for operand in form.operands])
    before = random_state(5)
    batch = State(*(np.broadcast_to(part, (6, *part.shape)) for part in before))
    together = stepped(batch, Instruction(form, tuple(numbers)), machine)
    for index, column in enumerate(numbers.T.tolist()):
        alone = stepped(before, Instruction(form, tuple(column)), machine)
        for one, other in zip(together, alone, strict=True):
            np.testing.assert_array_equal(one[index], other)
