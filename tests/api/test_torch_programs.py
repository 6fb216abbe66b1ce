"""Recordings as contracts, and operations as programs: all that needs no PyTorch."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from math import erf, exp, log, tanh
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mmaproof.api.kernels import verify
from mmaproof.api.torch.arrays import places, rounded, stored, view, written
from mmaproof.api.torch.compiler_flags import kept_flags
from mmaproof.api.torch.contract_text import ContractWriter
from mmaproof.api.torch.data_conditions import data_conditions
from mmaproof.api.torch.numbers import disagreement
from mmaproof.api.torch.operations import OPERATIONS
from mmaproof.api.torch.programs import call, needed, reference_text
from mmaproof.api.torch.ptx_modules import merged
from mmaproof.api.torch.recording import (
    Launch,
    NotRecordedError,
    Operation,
    Passed,
    Pointer,
    Recording,
    Storage,
    View,
    Word,
    from_json,
    to_json,
)
from mmaproof.api.torch.repeated_calls import first_call
from mmaproof.refinement.expected.array_functions import term_space
from mmaproof.refinement.expected.term_arithmetic import Value
from mmaproof.refinement.expected.term_arrays import NotModelledError, TermArray
from mmaproof.refinement.terms.assignments import Assignment
from mmaproof.refinement.terms.inputs import numbers_in
from mmaproof.refinement.terms.store import TermStore
from mmaproof.spec.formats import F32

RANDOM = np.random.default_rng(5)
X = RANDOM.standard_normal((2, 3, 4))


def by_element(function: Callable[[float], float]) -> Callable[[Any], Any]:
    return np.vectorize(function)


WANTED: dict[str, tuple[tuple[Any, ...], Any]] = {
    "add": ((X, 2 * X, 3), 7 * X),
    "sub": ((X, 2 * X, 3), -5 * X),
    "rsub": ((X, 1.0), 1 - X),
    "gelu": ((X,), by_element(lambda v: 0.5 * v * (1 + erf(v / 2**0.5)))(X)),
    "silu": ((X,), by_element(lambda v: v / (1 + exp(-v)))(X)),
    "softplus": ((X,), by_element(lambda v: log(1 + exp(v)))(X)),
    "mish": ((X,), by_element(lambda v: v * tanh(log(1 + exp(v))))(X)),
    "sign": ((X,), np.sign(X)),
    "pow": ((X, 3), X**3),
    "clamp": ((X, -0.5, 0.5), np.clip(X, -0.5, 0.5)),
    "sum": ((X, (1,)), X.sum(axis=1)),
    "mean": ((X, (0, 2), True), X.mean(axis=(0, 2), keepdims=True)),
    "var": ((X, (-1,)), X.var(axis=-1, ddof=1)),
    "amax": ((X, (1, 2)), X.max(axis=(1, 2))),
    "amin": ((X, -1, True), X.min(axis=-1, keepdims=True)),
    "argmax": ((X, 1), X.argmax(axis=1)),
    "argmin": ((X, 2, True), np.expand_dims(X.argmin(axis=2), 2)),
    "cumsum": ((X, 1), X.cumsum(axis=1)),
    "cumprod": ((X, 2), X.cumprod(axis=2)),
    "prod": ((X, 1), X.prod(axis=1)),
    "linalg_vector_norm": ((X, 2, (1,)), np.sqrt((X**2).sum(axis=1))),
    "bmm": ((X, np.swapaxes(X, 1, 2)), X @ np.swapaxes(X, 1, 2)),
    "addmm": ((X[0, 0], X[0], X[0].T @ X[0], 2.0, 0.5), 2 * X[0, 0] + 0.5 * (X[0] @ (X[0].T @ X[0]))),
    "cat": (([X, X], 1), np.concatenate([X, X], axis=1)),
    "constant_pad_nd": (
        (X, (1, -1, 2, 0), 7.0),
        np.pad(X, [(0, 0), (2, 0), (1, 0)], constant_values=7)[..., :-1],
    ),
    "tril": ((X, -1), np.tril(X, -1)),
    "flip": ((X, (0, 2)), X[::-1, :, ::-1]),
    "_softmax": ((X, 1, False), np.exp(X) / np.exp(X).sum(axis=1, keepdims=True)),
    "_log_softmax": ((X, 1, False), np.log(np.exp(X) / np.exp(X).sum(axis=1, keepdims=True))),
    "where": ((X > 0, X, 0.0), np.where(X > 0, X, 0)),
    "index": ((X, (None, np.array([2, 0]))), X[:, [2, 0]]),
}


@pytest.mark.parametrize("name", WANTED)
def test_operations_on_numbers(name: str) -> None:
    given, wanted = WANTED[name]
    assert OPERATIONS[name](*given) == pytest.approx(wanted)


@pytest.mark.parametrize("name", [name for name in WANTED if name not in ("where", "cumprod")])
def test_operations_on_terms_are_those_on_numbers(name: str) -> None:
    """Terms of constants, evaluated: the two sides of a verification are one program."""
    store = TermStore()
    space = term_space(store, F32)

    def lifted(value: Any) -> Any:
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            words = value.astype(np.float32).view(np.uint32).astype(np.uint64)
            return TermArray(space, Value(store.constants(words, 32).reshape(value.shape), F32))
        return [lifted(each) for each in value] if isinstance(value, list) else value

    given, wanted = WANTED[name]
    found = space.array(OPERATIONS[name](*map(lifted, given)))
    words = Assignment(store, {}).values(found.value.terms.reshape(-1))
    numbers = np.asarray(numbers_in(words, found.value.format), dtype=float).reshape(found.shape)
    assert numbers == pytest.approx(np.asarray(wanted), rel=1e-5, abs=1e-5)


def plain_convolution(x: Any, w: Any, stride: int, padding: int, dilation: int, groups: int) -> Any:
    """A convolution of one axis, by its definition."""
    batch, inputs, size = x.shape
    outputs, per_group, kernel = w.shape
    count = (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1
    y = np.zeros((batch, outputs, count))
    for o in range(outputs):
        first = o // (outputs // groups) * per_group
        for p in range(count):
            for k in range(kernel):
                at = p * stride - padding + k * dilation
                if 0 <= at < size:
                    y[:, o, p] += x[:, first : first + per_group, at] @ w[o, :, k]
    assert inputs == per_group * groups
    return y


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("padding", [0, 2])
@pytest.mark.parametrize("dilation", [1, 2])
@pytest.mark.parametrize("groups", [1, 2])
def test_convolutions(stride: int, padding: int, dilation: int, groups: int) -> None:
    x, w = RANDOM.standard_normal((2, 4, 9)), RANDOM.standard_normal((6, 4 // groups, 3))
    found = OPERATIONS["convolution"](x, w, None, (stride,), (padding,), (dilation,), False, (0,), groups)
    assert found == pytest.approx(plain_convolution(x, w, stride, padding, dilation, groups))


@pytest.mark.parametrize(
    ("stride", "padding", "dilation", "groups"), [(1, 0, 1, 1), (2, 1, 1, 2), (3, 2, 2, 1)]
)
def test_transposed_convolutions_are_adjoint(stride: int, padding: int, dilation: int, groups: int) -> None:
    """<conv(x), y> = <x, transposed(y)>, with one kernel."""
    x = RANDOM.standard_normal((1, 4, 10))
    w = RANDOM.standard_normal((6, 4 // groups, 3))
    y = OPERATIONS["convolution"](x, w, None, (stride,), (padding,), (dilation,), False, (0,), groups)
    back = (10 + 2 * padding - dilation * 2 - 1) % stride
    turned = OPERATIONS["convolution"](y, w, None, (stride,), (padding,), (dilation,), True, (back,), groups)
    assert turned.shape == x.shape
    assert (y * y).sum() == pytest.approx((x * turned).sum())


def test_pools() -> None:
    x = RANDOM.standard_normal((1, 2, 5, 5))
    greatest, _ = OPERATIONS["max_pool2d_with_indices"](x, (3, 3), (2, 2), (1, 1))
    outside = np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)], constant_values=-np.inf)
    blocks = np.lib.stride_tricks.sliding_window_view(outside, (3, 3), axis=(2, 3))[:, :, ::2, ::2]
    assert greatest == pytest.approx(blocks.max(axis=(-1, -2)))
    zeros = np.where(np.isinf(blocks), 0, blocks)
    average = OPERATIONS["avg_pool2d"](x, (3, 3), (2, 2), (1, 1))
    assert average == pytest.approx(zeros.sum(axis=(-1, -2)) / 9)
    without = OPERATIONS["avg_pool2d"](x, (3, 3), (2, 2), (1, 1), False, False)
    assert without == pytest.approx(zeros.sum(axis=(-1, -2)) / np.isfinite(blocks).sum(axis=(-1, -2)))


def test_an_index_that_is_data_is_refused() -> None:
    store = TermStore()
    data = TermArray(term_space(store, F32), Value(store.inputs("x", F32, np.arange(3)), F32))
    with pytest.raises(NotModelledError, match="an index that is data"):
        OPERATIONS["index"](X, (data,))


def test_tensors_in_flat_memory() -> None:
    storage = np.arange(12.0)
    turned = view(storage, "float32", (3, 2), (1, 3), 4)
    assert turned.tolist() == [[4, 7], [5, 8], [6, 9]]
    after = written(storage, 12, stored(-turned, "float32", (3, 2), (1, 3), 4))
    assert after.tolist() == [0, 1, 2, 3, -4, -5, -6, -7, -8, -9, 10, 11]
    whole = written(None, 6, stored(turned, "float32", (3, 2), (1, 3), 0))
    assert whole.tolist() == [4, 5, 6, 7, 8, 9]
    assert rounded(np.array([1 + 2.0**-9]), "bfloat16").tolist() == [1]
    with pytest.raises(NotModelledError, match="in part"):
        written(None, 12, stored(turned, "float32", (3, 2), (1, 3), 0))
    assert places((2, 2), (0, 1), 5).tolist() == [[5, 6], [5, 6]]


# -- data and calls
def test_truths_and_indices_have_conditions() -> None:
    storages = [
        Storage("bool", 6, "input", "mask", None, (2, 3)),
        Storage("int64", 2, "input", "target", None, (2,)),
        Storage("float32", 8, "input", "x", None, (2, 4)),
        Storage("int64", 2, "result", "where", None, (2,)),
        Storage("float32", 2, "result", "gather", None, (2,)),
    ]
    target, chosen = (View(number, "int64", (2,), (1,), 0) for number in (1, 3))
    x, found = View(2, "float32", (2, 4), (4, 1), 0), View(4, "float32", (2,), (1,), 0)
    steps = [
        Operation("where", (target, target, 0), {}, (chosen,), "m.py:1"),
        Operation("gather", (x, 1, chosen), {}, (found,), "m.py:2"),
    ]
    recording = Recording(storages, list(steps), [], [found])
    assert data_conditions(recording, None) == ["x_mask[i0, i1] <= 1", "0 <= x_target[i0] < 4"]


def test_indices_that_are_data_choose() -> None:
    x = np.arange(8.0).reshape(2, 4)
    found = OPERATIONS["gather"](x, 1, np.array([[3], [0]]))
    assert found.tolist() == [[3.0], [4.0]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (None, ""),
        (lambda steps: steps[:2], "less than the first"),
        (lambda steps: [*steps, steps[-1]], "more than the first"),
        (lambda steps: [*steps[:2], replace(steps[2], grid=(2, 1, 1))], "plus_one in m.py:4"),
        (lambda steps: [*steps[:1], replace(steps[1], name="mul"), steps[2]], "mul in m.py:3"),
    ],
)
def test_a_second_call_does_the_same(
    change: Callable[[list[Any]], list[Any]] | None, message: str, tmp_path: Path
) -> None:
    """With storages of its own in place of those that the first call made."""
    first, second = turned_plus_one(tmp_path), turned_plus_one(tmp_path)
    count, text = len(first.storages), json.dumps(to_json([second.steps[1:], second.results]))
    for made in (1, 2):
        text = text.replace(f'"storage": {made},', f'"storage": {made + count - 1},')
    again, results = from_json(json.loads(text))
    steps = [second.steps[0], *again]
    both = replace(first, storages=[*first.storages, *first.storages[1:3]])
    both.steps = [*first.steps, *(change(steps) if change else steps)]
    if message:
        with pytest.raises(NotRecordedError, match=message):
            first_call(both, 3, count, list(results))
    else:
        assert first_call(both, 3, count, list(results)) == first


# -- recordings as contracts
PTX = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry plus_one(.param .u64 X, .param .u64 Y, .param .u32 n)
{
    .reg .pred %p; .reg .b32 %r<6>; .reg .b64 %d<6>; .reg .f32 %f<4>;
    ld.param.u64 %d1, [X]; ld.param.u64 %d2, [Y]; ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.u32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p, %r5, %r1; @%p bra END;
    mul.wide.u32 %d3, %r5, 4; add.s64 %d4, %d1, %d3; add.s64 %d5, %d2, %d3;
    ld.global.f32 %f1, [%d4]; add.f32 %f2, %f1, 0f3F800000; st.global.f32 [%d5], %f2;
END:
    ret;
}
"""


def turned_plus_one(folder: Path, count: int = 12) -> Recording:
    """`launch(x.t().contiguous())`: a step of the host, a launch, and a view returned."""
    ptx = folder / "own.ptx"
    ptx.write_text(PTX, encoding="utf-8")
    storages = [
        Storage("float32", 12, "input", "x", None, (3, 4)),
        Storage("float32", 12, "result", "clone", None, (4, 3)),
        Storage("float32", 12, "empty", "empty_like", None, (4, 3)),
        Storage("int64", 1, "parameter", "calls", None, ()),
    ]
    turned = View(1, "float32", (4, 3), (3, 1), 0)
    calls = View(3, "int64", (), (), 0)
    passed = (
        Passed(8, ((0, Pointer(1, 0)),)),
        Passed(8, ((0, Pointer(2, 0)),)),
        Passed(4, ((0, Word(4, count)),)),
    )
    steps = [
        Operation("add", (calls, 1), {}, (calls,), "m.py:2"),
        Operation("clone", (View(0, "float32", (4, 3), (1, 4), 0),), {}, (turned,), "m.py:3"),
        Launch("plus_one", str(ptx), (1, 1, 1), (32, 1, 1), 0, passed, "m.py:4"),
    ]
    result = View(2, "float32", (2, 6), (6, 1), 0)
    return Recording(storages, list(steps), [View(0, "float32", (3, 4), (4, 1), 0)], [result])


def plus_one_turned() -> Recording:
    """The reference: (x + 1).t().reshape(2, 6)."""
    storages = [
        Storage("float32", 12, "input", "x", None, (3, 4)),
        Storage("float32", 12, "result", "add", None, (3, 4)),
        Storage("float32", 12, "result", "clone", None, (2, 6)),
    ]
    x, y = View(0, "float32", (3, 4), (4, 1), 0), View(1, "float32", (3, 4), (4, 1), 0)
    moved = View(2, "float32", (4, 3), (3, 1), 0)
    steps = [
        Operation("add", (x, 1), {}, (y,), "r.py:1"),
        Operation("clone", (View(1, "float32", (4, 3), (1, 4), 0),), {}, (moved,), "r.py:2"),
    ]
    return Recording(storages, list(steps), [x], [View(2, "float32", (2, 6), (6, 1), 0)])


def test_a_recording_becomes_a_contract(tmp_path: Path) -> None:
    candidate = from_json(json.loads(json.dumps(to_json(turned_plus_one(tmp_path)))))
    assert candidate == turned_plus_one(tmp_path)
    assert [type(each).__name__ for each in needed(candidate)] == ["Operation", "Launch"]
    files = ContractWriter(candidate, plus_one_turned()).write(tmp_path)
    assert verify(files.kernel, files.contract).result.verdict == "verified"


def test_a_part_that_is_not_written_is_refuted(tmp_path: Path) -> None:
    files = ContractWriter(turned_plus_one(tmp_path, 11), plus_one_turned()).write(tmp_path)
    result = verify(files.kernel, files.contract).result
    assert [str(finding.kind) for finding in result.findings] == ["missing-output"]
    files = ContractWriter(turned_plus_one(tmp_path, 11), None).write(tmp_path)
    assert verify(files.kernel, files.contract).result.verdict == "refuted"  # memory alone


def test_a_launch_beyond_the_array_is_refuted(tmp_path: Path) -> None:
    files = ContractWriter(turned_plus_one(tmp_path, 13), plus_one_turned()).write(tmp_path)
    assert "out-of-bounds" in {
        str(finding.kind) for finding in verify(files.kernel, files.contract).result.findings
    }


def test_other_steps_of_the_host_are_refuted(tmp_path: Path) -> None:
    candidate = turned_plus_one(tmp_path)
    step = candidate.steps[1]
    assert isinstance(step, Operation)
    other = View(0, "float32", (4, 3), (3, 1), 0)
    candidate.steps[1] = Operation("clone", (other,), {}, step.results, step.where)
    files = ContractWriter(candidate, plus_one_turned()).write(tmp_path)
    assert verify(files.kernel, files.contract).result.verdict == "refuted"


def test_a_changed_input_is_refused(tmp_path: Path) -> None:
    candidate = turned_plus_one(tmp_path)
    x = candidate.inputs[0]
    candidate.steps.insert(1, Operation("add", (x, 1), {}, (x,), "m.py:9"))
    with pytest.raises(NotRecordedError, match=r"add changes x, an input, in m\.py:9"):
        ContractWriter(candidate, plus_one_turned()).write(tmp_path)


def test_weights_that_a_candidate_does_not_have(tmp_path: Path) -> None:
    reference = plus_one_turned()
    reference.storages.append(Storage("float32", 4, "parameter", "bias", None, (4,)))
    files = ContractWriter(turned_plus_one(tmp_path), reference).write(tmp_path)
    assert verify(files.kernel, files.contract).result.verdict == "verified"  # nothing depends on it
    bias = View(3, "float32", (4,), (1,), 0)
    x, y = View(0, "float32", (3, 4), (4, 1), 0), View(1, "float32", (3, 4), (4, 1), 0)
    reference.steps[0] = Operation("add", (x, bias), {}, (y,), "r.py:1")
    with pytest.raises(NotRecordedError, match="the candidate has no bias, which the reference computes"):
        ContractWriter(turned_plus_one(tmp_path), reference).write(tmp_path)


def test_an_input_that_is_changed_after_all_is_refused(tmp_path: Path) -> None:
    candidate = turned_plus_one(tmp_path)
    x = candidate.inputs[0]
    candidate.steps.append(Operation("mul", (x, 2), {}, (x,), "m.py:9"))
    with pytest.raises(NotRecordedError, match=r"mul changes x, an input, in m\.py:9"):
        ContractWriter(candidate, plus_one_turned()).write(tmp_path)


def test_a_launch_that_changes_an_input_is_refuted(tmp_path: Path) -> None:
    """It returns what it should, in the memory of its argument."""
    x, result = View(0, "float32", (3, 4), (4, 1), 0), View(1, "float32", (3, 4), (4, 1), 0)
    storages = [Storage("float32", 12, "input", "x", None, (3, 4))]
    of_reference = [*storages, Storage("float32", 12, "result", "add", None, (3, 4))]
    reference = Recording(of_reference, [Operation("add", (x, 1), {}, (result,), "r.py:1")], [x], [result])
    candidate = turned_plus_one(tmp_path)
    launch = candidate.steps[-1]
    assert isinstance(launch, Launch)
    pointer = Passed(8, ((0, Pointer(0, 0)),))
    in_place = replace(launch, passed=(pointer, pointer, launch.passed[2]))
    files = ContractWriter(Recording(storages, [in_place], [x], [x]), reference).write(tmp_path)
    result_of = verify(files.kernel, files.contract).result
    assert any("which is read-only" in finding.message for finding in result_of.findings)


def test_what_a_recording_says_is_no_code() -> None:
    """The process that writes recordings runs code of others."""
    recording = plus_one_turned()
    step = recording.steps[0]
    assert isinstance(step, Operation)
    evil = "x\nraise SystemExit('executed')"
    recording.steps[0] = Operation(step.name, step.arguments, {}, step.results, evil)
    text = reference_text(recording, ["x", "y", "z"], ["z"], "")
    assert not [line for line in text.splitlines() if line.startswith("raise")]
    with pytest.raises(NotRecordedError, match="with the option"):
        call(Operation("add", (), {"x)\n#": 1}, (), ""), [])


def test_a_reference_is_held_against_numbers(tmp_path: Path) -> None:
    x = RANDOM.standard_normal((3, 4))
    path = tmp_path / "numbers.npz"
    np.savez(path, **{"input x": x, "result 0": (x + 1).T.reshape(2, 6)})
    assert disagreement(plus_one_turned(), path) is None
    np.savez(path, **{"input x": x, "result 0": (x + 1).reshape(2, 6)})
    assert "result 0 is" in str(disagreement(plus_one_turned(), path))


def test_modules_of_ptx_are_joined(tmp_path: Path) -> None:
    shared = '.file 1 "a.cu"\n.extern .shared .align 16 .b8 memory[];\n'
    for name in ("one", "two"):
        text = PTX.replace("plus_one", name).replace(".visible", shared + ".visible")
        text = text.replace("ret;", "mov.u64 %d1, memory;\n    .loc 1 5 0\n    ret;")
        text = text.replace(".visible", ".const .align 4 .b8 factors[16];\n.visible")
        (tmp_path / f"{name}.ptx").write_text(text, encoding="utf-8")
    modules = merged([tmp_path / "one.ptx", tmp_path / "two.ptx", tmp_path / "one.ptx"])
    of_modules = [modules.variable(str(tmp_path / f"{name}.ptx"), "factors") for name in ("one", "two")]
    assert of_modules == ["factors", "factors_of_module1"]
    text = modules.text
    assert text.count(".version") == 1 and text.count(".entry") == 2
    assert ".loc 2 5 0" in text and '.file 2 "a.cu"' in text and "memory_of_module1" in text


# -- flags of compilers
def test_flags_that_change_a_source_are_passed_on_or_refused() -> None:
    flags = ["-O3", "-D", "SCALE=2", "-DROWS=4", "-Xcompiler", "-U", "ROWS", "-lineinfo", "--use_fast_math"]
    assert kept_flags(flags) == ["-O3", "-DSCALE=2", "-DROWS=4", "-UROWS", "--use_fast_math"]
    for flag in ("--define-macro=SCALE=2", "--define-macro", "-Xcompiler=-DSCALE=2", "-include"):
        with pytest.raises(NotRecordedError, match=flag):
            kept_flags([flag, "SCALE=2"])
    assert kept_flags(["-I/somewhere/include", "-lcublas", "-gencode=arch=compute_80,code=sm_80"]) == []
