"""Python functions of numpy arrays as contracts: on terms they compute what they compute on numbers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from document_schemas import validate

from mmaproof.refinement.expected.array_functions import JOINS, MOVES, term_space
from mmaproof.refinement.expected.term_arithmetic import Value
from mmaproof.refinement.expected.term_arrays import NotModelledError, TermArray
from mmaproof.refinement.findings.result import Result
from mmaproof.refinement.kernel_replay import replay
from mmaproof.refinement.terms.assignments import Assignment
from mmaproof.refinement.terms.inputs import numbers_in
from mmaproof.refinement.terms.store import TermStore
from mmaproof.refinement.verification import Verification, verify
from mmaproof.spec.errors import InputError
from mmaproof.spec.float_encoding import encode
from mmaproof.spec.formats import F16, F32, S8, Format
from mmaproof.spec.rounding import Rounding

from ..contract_texts import contract_text
from ..cuda_contracts import CORPUS as CUDA
from ..cuda_contracts import contract_of
from ..elementwise_kernels import THREADS, kernel_text

Program = Callable[..., Any]


def _assigned(a: Any, b: Any) -> Any:
    out = np.zeros_like(a)
    out[1:3] = a[:2] + b[2:]
    out[0, 0] = 1
    return out


OF_ONE: dict[str, Program] = {
    "arithmetic": lambda a, b: 2 * a - b + a * b - (-a),
    "division by numbers": lambda a, b: a / 4 + b / np.arange(1, 5),
    "extrema": lambda a, b: np.maximum(a, b) - np.minimum(a, 3),
    "clip": lambda a, b: np.clip(a, -2, 1) + b,
    "sums": lambda a, b: a.sum(axis=0) + np.sum(b, axis=1, keepdims=True) + a.sum(),
    "means": lambda a, b: a.mean(axis=1) + np.mean(b),
    "extreme elements": lambda a, b: np.max(a, axis=1, keepdims=True) + np.min(b),
    "product": lambda a, b: a @ b,
    "transposed product": lambda a, b: a.T @ b[:, :2],
    "vectors": lambda a, b: a[0] @ b + a @ b[:, 1] + (a[0] @ b[0]),
    "batches": lambda a, b: a.reshape(2, 2, 4) @ b,
    "einsum": lambda a, b: np.einsum("ik,jk->ji", a, b) + np.einsum("ij,ij->i", a, b),
    "einsum of three": lambda a, b: np.einsum("ik,kj,j->i", a, b, a[0]),
    "einsum of one": lambda a, b: np.einsum("ij->j", a) + np.einsum("...j->...", b),
    "tensordot": lambda a, b: np.tensordot(a, b, axes=1) + np.tensordot(a, b, ((0,), (1,))),
    "outer and inner": lambda a, b: np.outer(a[0], b[1]) + np.inner(a, b) + np.dot(a, b),
    "where": lambda a, b: np.where(np.arange(4) % 2 == 0, a, b) + np.where(np.eye(4, dtype=bool), a, 0),
    "choices by data": lambda a, b: np.where(a > b, a, 3) + np.where(a, 1, b) + np.where(a == b, 1, 2) * a,
    "truths": lambda a, b: np.where((a > b) & ~(b == 2) | np.logical_not(a < 1) ^ (a != b), a, b),
    "truths as numbers": lambda a, b: (a <= 0) * b + a * (b > 1) + (a < b) * 2 + np.where(b > 0, 1.0, -1.0),
    "triangles": lambda a, b: np.tril(a) + np.triu(b, 1) + np.trace(a),
    "pad": lambda a, b: np.pad(a, 1)[1:5, :4] + np.pad(b, ((0, 0), (1, 0)))[:, :4],
    "assignment": _assigned,
    "mixed": lambda a, b: a * 0.5 + b,
    "narrowed": lambda a, b: (a + b).astype(np.int8) + a.astype(np.int32),
    "convolution": lambda a, b: sum(np.roll(a, k, axis=1) * b[k] for k in range(3)),
}
"""Programs of two matrices of four rows and columns."""


def both(program: Program, fmt: Format, store: TermStore) -> tuple[Any, Any]:
    """Return a program's result on terms, evaluated, and on numbers."""
    random = np.random.default_rng(7)
    numbers = [random.integers(-4, 5, (4, 4)) for _ in "ab"]
    space = term_space(store, F32)
    terms, inputs = [], {}
    for name, each in zip("ab", numbers, strict=True):
        words = encode(each.astype(float), fmt, Rounding.NEAREST_EVEN) if fmt == F16 else each & 0xFF
        inputs[name] = np.asarray(words, dtype=np.uint64).reshape(-1)
        terms.append(TermArray(space, Value(store.inputs(name, fmt, np.arange(16).reshape(4, 4)), fmt)))
    found = space.array(program(*terms))
    values = Assignment(store, inputs).values(found.value.terms.reshape(-1))
    given = [number.astype(np.float64) for number in numbers] if fmt == F16 else numbers
    return numbers_in(values, found.value.format).reshape(found.shape), np.asarray(program(*given))


@pytest.mark.parametrize("fmt", [F16, S8], ids=str)
@pytest.mark.parametrize("name", OF_ONE)
def test_programs_on_terms_are_programs_on_numbers(name: str, fmt: Format) -> None:
    found, wanted = both(OF_ONE[name], fmt, TermStore())
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found.astype(float), wanted.astype(float), rtol=1e-6)


ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "reshape": ((2, 8),), "swapaxes": (0, 1), "moveaxis": (0, 1), "expand_dims": (1,), "roll": (3, 1),
    "take": ([3, 1], 0), "take_along_axis": (np.array([[3], [2], [1], [0]]), 1), "repeat": (2, 1),
    "tile": ((2, 1),), "broadcast_to": ((3, 4, 4),), "delete": (1, 0), "resize": ((5, 4),),
}  # fmt: skip


@pytest.mark.parametrize("function", MOVES, ids=lambda each: each.__name__)
def test_moves(function: Any) -> None:
    arguments = ARGUMENTS.get(function.__name__, ())
    found, wanted = both(lambda a, _: function(a, *arguments), S8, TermStore())
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("function", JOINS, ids=lambda each: each.__name__)
def test_joins_of_unlike_arrays(function: Any) -> None:
    found, wanted = both(lambda a, b: function([a, b * 40, np.ones((4, 4), dtype=int)]), S8, TermStore())
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    "program",
    [
        lambda a, b: a if (a > b).any() else b,
        lambda a, b: a[b],
        lambda a, b: np.sort(a),
        lambda a, b: np.linalg.inv(a),
        lambda a, b: np.add(a, b, where=np.ones((4, 4), dtype=bool)),
        lambda a, b: ~(a + b),
        lambda a, b: np.where(a > b, [["x"]], a),
        lambda a, b: float(a[0, 0]),
    ],
)
def test_what_needs_the_numbers_is_refused(program: Program) -> None:
    with pytest.raises((NotModelledError, TypeError, IndexError)):
        both(program, S8, TermStore())


# -- kernels


def verified(folder: Path, function: str, reference: str = "product") -> Verification:
    """Verify a kernel of the corpus against a function of a file."""
    whole = contract_of("mma_f16_sm80.ptx").read_text(encoding="utf-8").split("[ensures]")[0]
    (folder / "reference.py").write_text(f"import numpy as np\n\n{function}\n", encoding="utf-8")
    contract = folder / "contract.toml"
    contract.write_text(f'{whole}\n[ensures]\nreference = "reference.py:{reference}"\n', encoding="utf-8")
    return verify(CUDA / "mma_f16_sm80.ptx", contract)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "body",
    ["(A, B): return A @ B", '(B, A, N, K): return {"C": np.einsum("ik,kj->ij", A[:, :K], B[:, :N])}'],
)
def test_a_right_kernel(body: str, tmp_path: Path) -> None:
    result = verified(tmp_path, f"def product{body}").result
    assert (result.verdict, result.equality) == ("verified", "value")
    assert result.stats["runs"]["elements"] > 0
    validate("verify", json.loads(json.dumps(result.document())))


def test_a_wrong_kernel_replays(tmp_path: Path) -> None:
    found = verified(tmp_path, "def product(A, B): return A @ np.roll(B, 1, axis=1)")
    assert found.result.verdict == "refuted" and found.counterexample is not None
    document = json.loads(json.dumps(found.counterexample.document()))
    assert replay(tmp_path / "saved.json", document).difference == found.counterexample.difference


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("def product(A, Q): return A", r"takes Q; the contract has M, N, K, A, B"),
        ("def product(A, B): return A", r"returns C of shape \[64, 96\], not \[64, 64\]"),
        ("def product(A, B): return A @ B, A", "must return C"),
        (
            "def product(A, B):\n    C = A @ B\n    return C if C[0, 0] > 0 else A",
            r"reference.py:5: a branch on data \(np.where chooses",
        ),
        ("def product(A, B):\n    return A @ C", r"reference.py:4: NameError"),
        ("def other(A, B): return A @ B", "has no function 'product'; there are: other"),
        ("def product(A, B) return", "can't be executed: SyntaxError"),
    ],
)
def test_functions_that_are_no_reference(function: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        verified(tmp_path, function)


def test_a_reference_is_named_as_file_and_function(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r'"file.py:function"'):
        verified(tmp_path, "def product(A, B): return A @ B", "product()")


def of_elements(folder: Path, body: str, function: str, **types: str) -> Result:
    """Verify a kernel of one thread for each element; see `elementwise_kernels`."""
    kinds = {name: (words.split()[0], words.endswith("out")) for name, words in types.items()}
    (folder / "kernel.ptx").write_text(kernel_text(body, kinds, "sm_90"), encoding="utf-8")
    (folder / "reference.py").write_text(f"import numpy as np\n\ndef f{function}\n", encoding="utf-8")
    arrays = {name: f"{kind} {THREADS} {'out' if out else 'in'}" for name, (kind, out) in kinds.items()}
    text = contract_text("x", arrays).split("[ensures]")[0]
    launch = f"[launch]\ngrid = 1\nblock = {THREADS}\n"
    (folder / "c.toml").write_text(
        f'{launch}{text}[ensures]\nreference = "reference.py:f"\n', encoding="utf-8"
    )
    return verify(folder / "kernel.ptx", folder / "c.toml").result


def test_integers_are_exact(tmp_path: Path) -> None:
    body = "mul.lo.s32 %r0, %A, %B; add.s32 %C, %r0, 7;"
    types = {"A": "s32", "B": "s32", "C": "s32 out"}
    assert (
        of_elements(tmp_path, body, "(A, B): return (A * B + 7).astype(np.int32)", **types).equality == "bits"
    )
    assert of_elements(tmp_path, body, "(A, B): return A * B + 8", **types).verdict == "refuted"


def test_quotients_and_exponentials(tmp_path: Path) -> None:
    body = (
        "ex2.approx.f32 %f0, %A; ex2.approx.f32 %f1, %B; add.rn.f32 %f2, %f0, %f1; div.rn.f32 %C, %f0, %f2;"
    )
    types = {"A": "f32", "B": "f32", "C": "f32 out"}
    right = "(A, B): return np.exp2(A) / (np.exp2(A) + np.exp2(B))"
    assert of_elements(tmp_path, body, right, **types).verdict == "verified"
    wrong = "(A, B): return np.exp2(B) / (np.exp2(A) + np.exp2(B))"
    assert of_elements(tmp_path, body, wrong, **types).verdict == "refuted"
    natural = body.replace(
        "ex2.approx.f32 %f0, %A;", "mul.rn.f32 %f3, %A, 0f3FB8AA3B; ex2.approx.f32 %f0, %f3;"
    )
    mixed = "(A, B): return np.exp(A) / (np.exp(A) + np.exp2(B))"
    assert of_elements(tmp_path, natural, mixed, **types).verdict == "verified"


def test_rounding_is_where_the_function_says(tmp_path: Path) -> None:
    body = "add.rn.f32 %f0, %A, %B; cvt.rn.f16.f32 %C, %f0;"
    types = {"A": "f32", "B": "f32", "C": "f16 out"}
    result = of_elements(tmp_path, body, "(A, B): return (A + B).astype(np.float16)", **types)
    assert result.verdict == "verified"
