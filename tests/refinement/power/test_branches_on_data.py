"""Branches that data decide: both ways are gone, and what they leave is chosen from where they meet."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from power_kernels import compiled, messages, run_under_qemu, verified
from sweep_parameters import few

from mmaproof.refinement.contract.reading import read_contract
from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.machine.array_memory import elements_in, inputs_of, memories
from mmaproof.refinement.power.front_end import read_kernel
from mmaproof.refinement.terms.assignments import Assignment
from mmaproof.refinement.terms.store import TermStore

FLAGS = ("-O1", "-O2", "-O2 -fno-if-conversion -fno-if-conversion2 -fno-ssa-phiopt")

HEAD = """
[kernel]
isa = "power"
entry = "f"

[[param]]
name = "y"
type = "{type}"
shape = [{count}]
access = "{access}"

[[param]]
name = "x"
type = "{type}"
shape = [5]

[[param]]
name = "n"
type = "s64"
value = 5
"""

LOOP = "void f({type} *y, const {type} *x, long n) {{ for (long i = 0; i < n; i++) {{ {body} }} }}"


def contract(formula: str, fmt: str = "f32", access: str = "out", count: int = 5) -> str:
    ensures = f'\n[ensures]\nformula = "{formula}"\n' if formula else ""
    return HEAD.format(type=fmt, access=access, count=count) + ensures


def loop(body: str, number: str = "float") -> str:
    start = f"void f({number} *y, const {number} *x, long n) {{"
    return f"{start} for (long i = 0; i < n; i++) {{ {body} }} }}"


GREATEST = """
void f(float *y, const float *x, long n)
{ float m = x[0]; for (long i = 1; i < n; i++) if (x[i] > m) m = x[i]; *y = m; }
"""

SKIPPED = """
void f(float *y, const float *x, long n)
{
  for (long i = 0; i < 3; i++) {
    float v = x[i];
    if (v == 0) continue;
    for (long j = 0; j < n; j++) y[j] += v * x[j];
  }
}
"""

KERNELS = {
    "leaky": (
        loop("y[i] = x[i] > 0 ? x[i] : 0.25f * x[i];"),
        contract("y[i] = where(x[i] > 0, x[i], 0.25 * x[i])"),
    ),
    "stored": (
        loop("if (x[i] >= 1) y[i] = 2 * x[i];", "double"),
        contract("y[i] = where(x[i] >= 1, 2 * x[i], old(y[i]))", "f64", "inout"),
    ),
    "both": (
        loop("if (x[i] > 0 && y[i] > 0) y[i] *= x[i]; else y[i] += x[i];"),
        contract(
            "y[i] = where(x[i] > 0, where(old(y[i]) > 0, x[i] * old(y[i]), x[i] + old(y[i])), "
            "x[i] + old(y[i]))",
            access="inout",
        ),
    ),
    "integers": (
        loop("if (x[i] > 0) y[i] = 3 * x[i]; else y[i] = -x[i];", "int"),
        contract("y[i] = where(x[i] > 0, 3 * x[i], -x[i])", "s32"),
    ),
    "clamped": (
        loop("float v = x[i]; if (v > 6) v = 6; else if (v < 0) v = 0; y[i] = v;"),
        contract("y[i] = min(max(x[i], 0), 6)"),
    ),
    "picked": (
        loop("const float *p = x[i] > 0 ? x : x + 1; y[i] = p[3 - (i & 3)];"),
        contract("y[i] = where(x[i] > 0, x[3 - i % 4], x[4 - i % 4])"),
    ),
    "scattered": (
        loop("float *p = x[i] > 0 ? y : y + n; p[i] = x[i];"),
        contract(
            "y[k] = where((k < 5 and x[k % 5] > 0) or (k >= 5 and not x[k % 5] > 0), x[k % 5], old(y[k]))",
            access="inout",
            count=10,
        ),
    ),
    "greatest": (GREATEST, contract("y[i] = max(s, x[s])", count=1)),
    "skipped": (SKIPPED, contract("y[j] = old(y[j]) + sum(i < 3, x[i] * x[j])", access="inout")),
}


@pytest.mark.parametrize("flags", few(FLAGS, "-O1"))
def test_kernels_that_branch_on_data_are_verified(flags: str, tmp_path: Path) -> None:
    for name, (text, of) in KERNELS.items():
        if name == "skipped" and flags == FLAGS[-1]:  # as with -O2
            continue
        found = verified(compiled(text, tmp_path, *flags.split()), of)
        assert found.result.verdict == "verified", (name, messages(found))


@pytest.mark.sample(7)
@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("leaky", "x[i] > 0", "x[i] < 0"),
        ("leaky", "x[i] > 0 ?", "x[i] > 1 ?"),
        ("leaky", "0.25f", "0.5f"),
        ("stored", ">= 1)", "> 1)"),
        ("stored", "2 * x[i];", "3 * x[i];"),
        ("both", "&&", "||"),
        ("integers", "3 * x[i]; else y[i] = -x[i];", "3 * x[i];"),
        ("clamped", "v < 0)", "v < 1)"),
        ("clamped", "v > 6)", "v > 7)"),
        ("clamped", "v > 6) v = 6", "v > 6) v = 0"),
        ("picked", "x + 1", "x + 2"),
        ("scattered", "y : y + n", "y + n : y"),
        ("greatest", "x[i] > m", "x[i] < m"),
        ("skipped", "v == 0", "v == 1"),
    ],
)
def test_faults_in_them_are_refuted(name: str, old: str, new: str, tmp_path: Path) -> None:
    text, of = KERNELS[name]
    assert old in text
    found = verified(compiled(text.replace(old, new), tmp_path, "-O2"), of)
    assert found.result.verdict == "refuted", messages(found)


ACCESS = loop("y[i] = x[i]; if (%s) y[i + 1] = 1;")


def test_what_is_wrong_on_one_way_counts_where_data_lead_there(tmp_path: Path) -> None:
    found = verified(compiled(ACCESS % "x[i] > 2", tmp_path, "-O1"), contract(""))
    assert Kind.OUT_OF_BOUNDS in {finding.kind for finding in found.result.findings}, messages(found)
    assert found.result.verdict == "refuted"


def test_what_is_wrong_where_no_data_lead_is_not_refuted(tmp_path: Path) -> None:
    kernel = compiled(ACCESS % "x[i] > 2 && x[i] < 1", tmp_path, "-O1")
    found = verified(kernel, contract(""))
    assert found.result.verdict == "undecided", messages(found)
    assert "if data lead here, which is not known" in messages(found)


COUNTED = """
void f(float *y, const float *x, long n)
{
  long m = (long)x[0];
  for (long i = 0; i < m; i++) { y[i] = x[i]; __asm__ volatile (""); }
}
"""


def test_loops_that_data_end_are_unsupported_where_they_are(tmp_path: Path) -> None:
    found = verified(compiled(COUNTED, tmp_path, "-O1"), contract("", access="inout"))
    assert {finding.kind for finding in found.result.findings} == {Kind.UNSUPPORTED}, messages(found)
    assert "depends on data (at 0x" in messages(found)


MIXED = """
static __attribute__((noinline)) float g(float a, float b)
{ if (a > b) return a - b; if (b == 0) return 1; return b * 0.5f; }
void f(float *y, const float *x, long n)
{
  float v = 0.5f, kept = 0;
  for (long i = 0; i < n; i++) {
    if (x[i] < -1) break;
    if (x[i] == 0 || (y[i] > 0 && x[i] > y[i])) { v = g(v, x[i]); y[i] = v; continue; }
    for (int j = 0; j < 3; j++)
      if (!(x[j] <= v)) kept += x[j]; else v = kept < 1 ? v + 1 : x[i];
    y[i] += v;
  }
  y[0] = kept;
}
"""


ROUNDED = """
void f(float *y, const float *x, long n) {
  for (long i = 0; i < n; i++)
    y[i] = __builtin_roundf(x[i]) + (float)__builtin_round((double)y[i] / 3) + __builtin_floorf(y[i]);
}
"""


@pytest.mark.parametrize("flags", ["-O2"])
@pytest.mark.parametrize("text", [MIXED, ROUNDED], ids=["mixed", "rounded"])
def test_the_symbolic_result_is_what_qemu_computes(text: str, flags: str, tmp_path: Path) -> None:
    runs, random = 24, np.random.default_rng(7)
    numbers = np.array(
        [0.0, -0.0, 1, -1, 0.5, -0.5, 2, 3, -3, 0.25, -1.5, 2.5, -0.75, 8388609], dtype=np.float32
    )
    numbers = np.append(numbers, np.nextafter(np.float32([0.5, -1.5]), np.float32(0)))
    x, y = (random.choice(numbers, (runs, 5)) for _ in range(2))
    kernel = compiled(text, tmp_path, flags, "-ffp-contract=off")
    each_run = (
        f"for (int s = 0; s < {runs}; s++) f((float *)arrays[0] + 5 * s, (float *)arrays[1] + 5 * s, 5)"
    )
    after, _ = run_under_qemu(kernel, "void f(float *, const float *, long);", each_run, [y, x])

    path = tmp_path / "contract.toml"
    path.write_text(contract("", access="inout"))
    (instance,) = read_contract(path).instances()
    store = TermStore()
    outcome = read_kernel(kernel, "f", None).run(instance, store, inputs_of(store, instance))
    assert outcome.complete and not outcome.findings
    _, terms = elements_in(store, memories(instance)["y"], outcome.arrays["y"].lanes)
    for given_x, given_y, wanted in zip(x, y, after, strict=True):
        words = {"x": given_x.view(np.uint32), "y": given_y.view(np.uint32)}
        computed = Assignment(store, words).values(terms).astype(np.uint32)
        np.testing.assert_array_equal(computed.view(np.float32), wanted)
