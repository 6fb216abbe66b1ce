"""Evaluating claims with numpy: batches, sampling, and counterexamples as documents."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import toy_theorems as toy
from hypothesis import given
from hypothesis import strategies as st

from mmaproof.proofs.catalogue import matching
from mmaproof.proofs.obligation import (
    RN,
    Equality,
    Equation,
    Inputs,
    Method,
    Property,
    Status,
    Variable,
    holds,
)
from mmaproof.proofs.replay import (
    counterexample,
    edge_encodings,
    evaluate,
    pinned_encodings,
    read_inputs,
    samples,
    search,
)
from mmaproof.spec.algebra import Algebra, Array, Operand
from mmaproof.spec.errors import InputError
from mmaproof.spec.formats import BF16, F16, F32, F64, S8, S32, U8, U64, Format
from mmaproof.spec.rounding import Rounding

FALSE = Property(toy.BYTES, toy._absorption)
TRUE = Property(toy.BYTES, toy._sum)


def encodings(x: list[int], y: list[int]) -> dict[str, Array]:
    return {"x": np.array(x, dtype=np.uint8), "y": np.array(y, dtype=np.uint8)}


@given(st.lists(st.tuples(*[st.integers(0, 255)] * 3), min_size=1, max_size=5))
def test_a_batch_is_its_rows(rows: list[tuple[int, int, int]]) -> None:
    batch = encodings([], []) | {
        "x": np.array([row[:2] for row in rows], dtype=np.uint8),
        "y": np.array([row[2:] for row in rows], dtype=np.uint8),
    }
    ((_, wrong),) = evaluate(FALSE, batch, Equality.BITS, batched=True)
    alone = [evaluate(FALSE, encodings([a, b], [c]), Equality.BITS)[0][1].tolist() for a, b, c in rows]
    assert wrong.tolist() == alone == [[c != 0] * 2 for _, _, c in rows]


@given(st.lists(st.integers(0, 255), min_size=2, max_size=2), st.integers(0, 255))
def test_a_counterexample_replays_exactly_where_the_claim_fails(x: list[int], y: int) -> None:
    found = counterexample("test/sum", FALSE, encodings(x, [y]), Equality.BITS)
    assert found.replays == (y != 0)
    if found.difference is not None:
        assert (found.difference.index, found.difference.label) == ((0,), "x + y against x")
        total = (x[0] + y) % 256
        assert found.difference.left == f"{total:#04x} ({total})"
        assert found.difference.right == f"{x[0]:#04x} ({x[0]})"


def test_assumptions_and_conditions_hide_failures() -> None:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        yield Equation(v["x"], v["y"], U8, alg.same(v["y"], alg.constant(3, U8)))

    def assuming(alg: Algebra, v: Inputs) -> Iterator[Array]:
        yield ~alg.same(v["x"], alg.constant(7, U8))

    prop = Property(toy.BYTES, claim, assuming)
    for x, y, wrong in (
        ([1, 3], 3, [True, False]),
        ([1, 3], 4, [False, False]),
        ([1, 7], 3, [False, False]),
    ):
        ((_, failing),) = evaluate(prop, encodings(x, [y]), Equality.BITS)
        assert failing.tolist() == wrong
    rows = {"x": np.array([[1, 3], [1, 7]], np.uint8), "y": np.array([[3], [3]], np.uint8)}
    ((_, failing),) = evaluate(prop, rows, Equality.BITS, batched=True)
    assert failing.tolist() == [[True, False], [False, False]]


def test_numbers_are_equal_where_bits_are_not() -> None:
    prop = Property(
        (Variable("x", F32),), lambda alg, v: [Equation(v["x"], alg.negate(Operand(v["x"], F32)), F32)]
    )
    zero = {"x": np.array(0, dtype=np.uint32)}
    assert counterexample("test/zero", prop, zero, Equality.BITS).replays
    assert not counterexample("test/zero", prop, zero, Equality.IEEE).replays


# -- documents


def _each_format(alg: Algebra, v: Inputs) -> Iterator[Equation]:
    yield holds(alg, alg.same(v["a"], alg.constant(0, BF16)))


MIXED = Property(
    (Variable("a", BF16, (2, 2)), Variable("b", S8, (1,)), Variable("c", F64), Variable("rounding", RN)),
    _each_format,
)


@given(st.data())
def test_a_document_gives_its_inputs_back(data: st.DataObject) -> None:
    drawn = {}
    for v in MIXED.variables:
        bits = [
            data.draw(st.integers(0, 2**v.format.bits - 1)) for _ in range(int(np.prod(v.shape, dtype=int)))
        ]
        drawn[v.name] = np.array(bits, dtype=v.format.storage).reshape(v.shape)
    document = counterexample("test/mixed", MIXED, drawn, Equality.BITS).document()
    read = read_inputs(json.loads(json.dumps(document)), MIXED, "file.json")
    for v in MIXED.variables:
        assert read[v.name].dtype == v.format.storage
        assert read[v.name].shape == v.shape
        assert read[v.name].tolist() == drawn[v.name].tolist()


def test_a_document_shows_bits_and_values(tmp_path: Path) -> None:
    inputs: dict[str, Any] = {
        "a": [[0x3F80, 0x8000], [0x7F80, 0x7FC0]],
        "b": [0xFF],
        "c": 0xBFF8 << 48,
        "rounding": 3,
    }
    drawn = {v.name: np.array(inputs[v.name], dtype=v.format.storage) for v in MIXED.variables}
    found = counterexample("test/mixed", MIXED, drawn, Equality.BITS)
    document = json.loads(json.dumps(found.document()))
    assert (document["schema"], document["kind"], document["obligation"]) == (1, "obligation", "test/mixed")
    assert document["inputs"]["a"] == {
        "format": "bf16",
        "shape": [2, 2],
        "bits": ["0x3f80", "0x8000", "0x7f80", "0x7fc0"],
        "values": ["1.0", "-0.0", "inf", "nan"],
    }
    assert document["inputs"]["b"]["values"] == ["-1"]
    assert document["inputs"]["c"]["values"] == ["-1.5"]
    assert document["inputs"]["rounding"]["bits"] == ["0x3"]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], 'the counterexample has no "inputs" object'),
        ({"inputs": 3}, 'the counterexample has no "inputs" object'),
        ({"inputs": {"x": {"bits": ["0x1", "0x2"]}}}, "input 'y' must have 1 encodings in \"bits\""),
        ({"inputs": {"x": {"bits": ["0x1"]}}}, "input 'x' must have 2 encodings in \"bits\""),
        ({"inputs": {"x": {"bits": ["0x1", "two"]}}}, "input 'x' has bits that are not hexadecimal strings"),
        ({"inputs": {"x": {"bits": ["0x1", 2]}}}, "input 'x' has bits that are not hexadecimal strings"),
        ({"inputs": {"x": {"bits": ["0x1", "0x100"]}}}, "input 'x' has bits wider than 8"),
        ({"inputs": {"x": {"bits": ["0x1", "-0x1"]}}}, "input 'x' has bits wider than 8"),
    ],
)
def test_a_document_that_does_not_fit_is_refused(document: Any, message: str) -> None:
    with pytest.raises(InputError) as refused:
        read_inputs(document, FALSE, "found.json")
    assert message in str(refused.value)
    assert "found.json" in str(refused.value)


def test_pinned_values_fill_their_arrays() -> None:
    pinned = pinned_encodings(MIXED, {"a": 0x3F80, "b": [5]})
    assert pinned["a"].tolist() == [[0x3F80] * 2] * 2
    assert (pinned["b"].tolist(), pinned["c"].tolist(), pinned["rounding"].tolist()) == ([5], 0, 0)
    pinned["a"][0, 0] = 1
    assert pinned["a"].tolist() == [[1, 0x3F80], [0x3F80] * 2]


# -- sampling


def test_sampling_finds_what_is_false_and_nothing_else() -> None:
    found = search(FALSE, Equality.BITS)
    assert found is not None
    assert counterexample("test/sum", FALSE, found, Equality.BITS).replays
    assert search(TRUE, Equality.BITS) is None


def test_sampling_is_repeatable() -> None:
    once, again = search(FALSE, Equality.BITS), search(FALSE, Equality.BITS)
    assert once is not None and again is not None
    assert {name: bits.tolist() for name, bits in once.items()} == {
        name: bits.tolist() for name, bits in again.items()
    }


@pytest.mark.parametrize("direction", Rounding)
def test_every_direction_is_sampled(direction: Rounding) -> None:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        wrong = np.asarray(v["x"] != v["x"]) | (v["rounding"] is direction)
        yield holds(alg, ~wrong)

    found = search(Property((Variable("x", U8), Variable("rounding", RN)), claim), Equality.BITS)
    assert found is not None
    assert int(found["rounding"]) == direction.value


@pytest.mark.parametrize("fmt", [F16, BF16, F32, F64, S8, S32, U64], ids=str)
def test_samples_have_their_variables_shapes_and_meet_every_edge(fmt: Format) -> None:
    prop = Property((Variable("x", fmt, (3,)), Variable("y", fmt)), lambda alg, v: [])
    (assignment,) = samples(prop, np.random.default_rng(1), 512)
    assert {name: (bits.shape, bits.dtype) for name, bits in assignment.items()} == {
        "x": ((512, 3), fmt.storage),
        "y": ((512,), fmt.storage),
    }
    assert set(edge_encodings(fmt).tolist()) <= set(assignment["x"].ravel().tolist())
    assert len(set(assignment["x"].ravel().tolist())) > len(edge_encodings(fmt))


@pytest.mark.parametrize("prefix", ["ptx/numerics/dot-add", "pto/numerics", "power/numerics", "mfma"])
def test_every_claim_that_a_solver_may_give_up_on_can_be_sampled(prefix: str) -> None:
    """Variables of any shape: a time-out is followed by a search, which must not fail."""
    for obligation in matching([prefix]):
        if obligation.method in (Method.SMT, Method.STRUCTURAL) and obligation.expect is Status.PROVED:
            goal = obligation.goal()
            if isinstance(goal, Property):
                assert search(goal, obligation.equality, batch=4) is None, obligation.id
