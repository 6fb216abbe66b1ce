"""Verdicts as text: the verdict first, findings by lines of the source, inputs of a counterexample."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import mmaproof

EXAMPLES = Path(__file__).parents[2] / "examples" / "verify"

REVERSED = """.version 8.0
.target sm_80
.address_size 64
.file 1 "reverse.cu"
.visible .entry reverse(.param .u64 x, .param .u64 y)
{
    .reg .b32 %r<9>;
    .reg .b64 %d<9>;
    .shared .align 4 .b8 tile[256];
    ld.param.u64 %d1, [x];
    ld.param.u64 %d2, [y];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %d3, %r1, 4;
    add.s64 %d4, %d1, %d3;
    ld.global.b32 %r2, [%d4];
    mov.u64 %d5, tile;
    add.s64 %d6, %d5, %d3;
    .loc 1 4 3
    st.shared.b32 [%d6], %r2;
BARRIER
    sub.s64 %d7, %d5, %d3;
    .loc 1 5 3
    ld.shared.b32 %r3, [%d7+252];
    add.s64 %d8, %d2, %d3;
    st.global.b32 [%d8], %r3;
    ret;
}
"""

CONTRACT = """[kernel]
isa = "ptx"
[launch]
grid = 1
block = 64
[[param]]
name = "X"
type = "f32"
shape = [64]
access = "in"
[[param]]
name = "Y"
type = "f32"
shape = [64]
access = "out"
[ensures]
formula = "Y[i] = X[63 - i]"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "reverse.ptx").write_text(REVERSED.replace("BARRIER", "    bar.sync 0;"), encoding="utf-8")
    (tmp_path / "racy.ptx").write_text(REVERSED.replace("BARRIER", ""), encoding="utf-8")
    (tmp_path / "reverse.toml").write_text(CONTRACT, encoding="utf-8")
    return tmp_path


def lines(kernel: str, contract: str = "reverse.toml", **more: str) -> list[str]:
    return str(mmaproof.verify(kernel, contract, **more)).splitlines()


def test_a_verdict_says_first_what_is_verified(folder: Path) -> None:
    first, covered, claim, *_ = lines("reverse.ptx")
    assert first == "verified (bits): reverse.ptx computes Y as reverse.toml says"
    assert covered == "Y: all 64 elements, 256 bytes"
    assert claim == "for all data, bit by bit"


def test_a_pair_of_kernels_is_named(folder: Path) -> None:
    (folder / "pair.toml").write_text(CONTRACT.partition("[ensures]")[0], encoding="utf-8")
    shutil.copy("reverse.ptx", "other.ptx")
    told = lines("reverse.ptx", "pair.toml", against="other.ptx")
    assert told[0] == "verified (bits): reverse.ptx computes Y as other.ptx does"
    report = mmaproof.verify("reverse.ptx", "pair.toml", against="other.ptx")
    assert report.headline == "the kernel computes what other.ptx computes"
    assert "contract says" not in str(report)


def test_memory_alone_is_named(folder: Path) -> None:
    (folder / "memory.toml").write_text(CONTRACT.partition("[ensures]")[0], encoding="utf-8")
    assert lines("reverse.ptx", "memory.toml")[0] == "safe: reverse.ptx uses memory as memory.toml allows"
    assert (
        lines("racy.ptx", "memory.toml")[0] == "refuted: racy.ptx does not use memory as memory.toml allows"
    )


def test_a_report_is_true_exactly_if_it_holds(folder: Path) -> None:
    assert mmaproof.verify("reverse.ptx", "reverse.toml")
    refuted = mmaproof.verify("racy.ptx", "reverse.toml")
    assert not refuted
    assert repr(refuted) == "<VerifyReport: the kernel is refuted>"


def test_both_sides_of_a_race_have_their_source_lines(folder: Path) -> None:
    first, race, *_ = lines("racy.ptx")
    assert first == "refuted: racy.ptx does not compute Y as reverse.toml says"
    assert race.startswith("reverse.cu:5 (racy.ptx:23): race: ")
    assert "; line 19 is reverse.cu:4" in race


def test_a_source_that_is_at_hand_is_the_place_of_a_finding(folder: Path) -> None:
    (finding,) = mmaproof.verify("racy.ptx", "reverse.toml").findings
    assert finding.place == "racy.ptx:23"
    assert "(reverse.cu:5)" in finding.summary
    (folder / "reverse.cu").write_text("// the source\n", encoding="utf-8")
    (finding,) = mmaproof.verify("racy.ptx", "reverse.toml").findings
    assert finding.place == "reverse.cu:5"
    assert "(racy.ptx:23)" in finding.summary


def test_findings_of_a_line_are_told_together(folder: Path) -> None:
    contract = (EXAMPLES / "mma_s4.toml").read_text(encoding="utf-8")
    short = contract.replace('shape = ["M", "N"]', 'shape = ["M - 8", "N"]')
    assert short != contract
    (folder / "short.toml").write_text(short, encoding="utf-8")
    shutil.copy(EXAMPLES / "mma_s4_sm80.ptx", "kernel.ptx")
    report = mmaproof.verify("kernel.ptx", "short.toml")
    told = [line.partition(": out-of-bounds")[0] for line in str(report).splitlines() if "out-of-b" in line]
    assert told and len(told) == len(set(told))


def test_a_counterexample_shows_its_inputs_and_both_values(folder: Path) -> None:
    text = (folder / "reverse.ptx").read_text(encoding="utf-8")
    (folder / "wrong.ptx").write_text(text.replace("%d7+252", "%d7+248"), encoding="utf-8")
    told = lines("wrong.ptx")
    values = next(line for line in told if ", where reverse.toml gives " in line)
    assert values.startswith("Y[") and " in wrong.ptx, " in values and values.endswith("on these inputs:")
    assert told[told.index(values) + 1].startswith("  X: f32[64]: X[")


def test_a_draft_decides_nothing_until_it_is_filled_in(folder: Path) -> None:
    draft = mmaproof.contract("reverse.ptx")
    (folder / "draft.toml").write_text(draft, encoding="utf-8")
    report = mmaproof.verify("reverse.ptx", "draft.toml")
    places = sum("fill in" in line and not line.startswith("#") for line in draft.splitlines())
    assert not report and report.result.verdict == "undecided"
    assert f"the contract is a draft: {places} places still say `fill in`" in str(report)


def test_a_comment_is_no_place_to_fill_in(folder: Path) -> None:
    (folder / "reverse.toml").write_text(f"# fill in: nothing\n{CONTRACT}", encoding="utf-8")
    assert mmaproof.verify("reverse.ptx", "reverse.toml")
