"""Contracts without ``[ensures]``: what a kernel does to memory, whatever it computes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from document_schemas import validate

from mmaproof.refinement.contract.reading import parse_contract
from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.findings.result import Result
from mmaproof.refinement.verification import verify
from mmaproof.spec.errors import InputError

from ..command_line import mmaproof
from ..cuda_contracts import CORPUS
from ..elementwise_kernels import THREADS, kernel_text
from ..operator_kernels import CORPUS as OPERATORS

COPY = "mov.b32 %C, %A;"
SHARED = ".shared .align 4 .b8 tile[128]; shl.b32 %r0, %t, 2; mov.u32 %r1, tile; add.u32 %r0, %r0, %r1;"
REVERSED = "sub.u32 %r2, 31, %t; shl.b32 %r2, %r2, 2; add.u32 %r2, %r2, %r1;"


def memory_contract(elements: int, extra: Mapping[str, str]) -> str:
    """Return a contract of two vectors without a formula."""
    lines = ["[kernel]", 'isa = "ptx"', "[launch]", "grid = 1", f"block = {THREADS}"]
    for name, access in (("A", "in"), ("C", "out")):
        lines += ["[[param]]", f'name = "{name}"', 'type = "f32"', f"shape = [{elements}]"]
        lines += [f'access = "{access}"', extra.get(name, "")]
    return "\n".join([*lines, ""])


def result_of(folder: Path, body: str, *, elements: int = THREADS, **extra: str) -> Result:
    """Examine a kernel whose thread t copies A[t] to C[t] through the registers ``%A`` and ``%C``."""
    kernel, contract = folder / "kernel.ptx", folder / "memory.toml"
    kernel.write_text(kernel_text(body, {"A": ("f32", False), "C": ("f32", True)}, "sm_90"), encoding="utf-8")
    contract.write_text(memory_contract(elements, extra), encoding="utf-8")
    result = verify(kernel, contract).result
    validate("verify", json.loads(json.dumps(result.document())))
    return result


def test_what_is_computed_is_of_no_concern(tmp_path: Path) -> None:
    for body in (COPY, "ex2.approx.f32 %C, %A;", "mov.b32 %C, 0;"):
        result = result_of(tmp_path, body)
        assert (result.verdict, result.equality, result.findings) == ("safe", None, ())
        (written,) = result.written
        assert (written.elements, written.written) == (THREADS, THREADS)
        assert result.assumptions == ("no two arrays overlap",)


@pytest.mark.parametrize(
    ("body", "elements", "kind"),
    [
        (COPY, THREADS - 1, Kind.OUT_OF_BOUNDS),
        ("mov.b32 %C, %f3;", THREADS, Kind.UNINITIALISED),
        (
            "mov.b32 {%h1, %h2}, %f3; mov.b32 {%h3, %h4}, %A; mov.b32 %C, {%h1, %h3};",
            THREADS,
            Kind.UNINITIALISED,
        ),
        (f"{SHARED} ld.shared.b32 %C, [%r0];", THREADS, Kind.UNINITIALISED),
        (f"{SHARED} {REVERSED} st.shared.b32 [%r0], %A; ld.shared.b32 %C, [%r2];", THREADS, Kind.RACE),
        ("add.u64 %at0, %at0, 2; ld.global.b32 %C, [%at0];", THREADS + 1, Kind.MISALIGNED),
        ("setp.lt.u32 %p0, %t, 7; @%p0 barrier.sync.aligned 0; mov.b32 %C, %A;", THREADS, Kind.DIVERGENCE),
        ("mov.b32 %C, %A; st.global.b32 [%at0], %A;", THREADS, Kind.OUT_OF_BOUNDS),
    ],
)
def test_faults_of_every_kind(body: str, elements: int, kind: Kind, tmp_path: Path) -> None:
    result = result_of(tmp_path, body, elements=elements, C='covers = "part"')
    assert result.verdict == "refuted"
    assert kind in {finding.kind for finding in result.findings}
    assert all(finding.line for finding in result.findings)


def test_a_barrier_orders_what_raced(tmp_path: Path) -> None:
    body = f"{SHARED} {REVERSED} st.shared.b32 [%r0], %A; bar.sync 0; ld.shared.b32 %C, [%r2];"
    assert result_of(tmp_path, body).verdict == "safe"


def test_a_value_that_depends_on_what_nobody_has_computed_is_undecided(tmp_path: Path) -> None:
    result = result_of(tmp_path, "add.f32 %C, %A, %f3;")
    assert (result.verdict, {finding.kind for finding in result.findings}) == ("undecided", {Kind.UNDECIDED})
    assert "was never computed" in result.findings[0].message


def test_gaps_stay_as_they_were(tmp_path: Path) -> None:
    kept = {"A": "strides = [2]", "C": "strides = [2]"}
    assert Kind.CLOBBERED in {
        finding.kind for finding in result_of(tmp_path, COPY, elements=16, **kept).findings
    }
    free = dict.fromkeys(kept, 'strides = [2]\ngaps = "any"')
    assert Kind.CLOBBERED not in {
        finding.kind for finding in result_of(tmp_path, COPY, elements=16, **free).findings
    }


def test_an_output_that_is_partly_written_is_told(tmp_path: Path) -> None:
    result = result_of(tmp_path, COPY, elements=2 * THREADS)
    assert [str(each) for each in result.written] == ["C: 32 of 64 elements written"]
    (finding,) = result.findings
    assert (result.verdict, finding.kind) == ("refuted", Kind.MISSING_OUTPUT)
    assert finding.message.startswith("C[32] is never written (32 of 64 elements are not)")
    meant = result_of(tmp_path, COPY, elements=2 * THREADS, C='covers = "part"')
    assert meant.verdict == "safe"


def test_covers_is_of_contracts_that_say_nothing_of_values() -> None:
    text = memory_contract(THREADS, {"C": 'covers = "part"'})
    assert parse_contract(text).parameters
    with pytest.raises(InputError, match="C has covers, which is for contracts without"):
        parse_contract(f'{text}[ensures]\nformula = "C[i] = A[i]"\n')


def right_kernels() -> Iterator[object]:
    """Yield the contracts of the corpora in CUDA; slow ones, every second, most operators in the sweep."""
    quick, slow = {"moe_f16", "serial_split_k_f32", "split_k_f16"}, {"dequantised_s4_f16", "nf4_f32"}
    for number, contract in enumerate(sorted(CORPUS.glob("*.toml"))):
        marks = [pytest.mark.sweep] if number % 2 or contract.stem in slow else []
        yield pytest.param(contract, id=contract.stem, marks=marks)
    for contract in sorted(OPERATORS.glob("*.toml")):
        if contract.stem != "variants":
            marks = [] if contract.stem in quick else [pytest.mark.sweep]
            yield pytest.param(contract, id=contract.stem, marks=marks)


@pytest.mark.parametrize("contract", list(right_kernels()))
def test_right_kernels_raise_no_alarm(contract: Path, tmp_path: Path) -> None:
    text = contract.read_text(encoding="utf-8").split("[ensures]")[0]
    memory = tmp_path / contract.name
    memory.write_text(text, encoding="utf-8")
    kernel = min(contract.parent.glob(f"{contract.stem}_sm*.ptx"))
    result = verify(kernel, memory).result
    assert (result.verdict, result.findings) == ("safe", ())
    assert all(each.written == each.elements for each in result.written)


def test_the_command_line_says_what_was_looked_at(tmp_path: Path) -> None:
    result_of(tmp_path, COPY)
    told = mmaproof("verify", str(tmp_path / "kernel.ptx"), "--contract", str(tmp_path / "memory.toml"))
    assert told.status == 0
    assert "safe: " in told.out and "results are not checked" in told.out


def test_a_finding_names_the_line_of_the_source(tmp_path: Path) -> None:
    body = ".loc 1 41 7\nmov.b32 %C, %f3;\n.loc 1 42 0\nmov.b32 %f4, %C;"
    result_of(tmp_path, body)
    kernel = tmp_path / "kernel.ptx"
    kernel.write_text(kernel.read_text(encoding="utf-8") + '\n.file 1 "copy.cu"\n', encoding="utf-8")
    finding = verify(kernel, tmp_path / "memory.toml").result.findings[0]
    assert finding.source == "copy.cu:42"
    assert str(finding).startswith(f"copy.cu:42 ({kernel}:{finding.line}): uninitialised: ")
    told = mmaproof(
        "verify", kernel, "--contract", tmp_path / "memory.toml", "--sarif", tmp_path / "found.sarif"
    )
    assert told.status == 1 and "copy.cu:42" in (tmp_path / "found.sarif").read_text(encoding="utf-8")
