"""Whatever files and arguments a command gets: one line, a documented status, nothing half-written."""

from __future__ import annotations

import json
import os
import unicodedata
import warnings
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from command_line import Result, mmaproof
from hostile_inputs import CONTRACT, KERNEL, Hostile

COUNT = 30
"""Command lines of each seed."""

LIMITS = ("--timeout", "20", "--memory", "4")


def ended(arguments: list[str], stdin: bytes) -> Result:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # as the process does
        limits = LIMITS if arguments[0] != "check" and "--timeout" not in arguments else ()
        return mmaproof(arguments[0], *limits, *arguments[1:], stdin=stdin)


def complaints(result: Result, folder: Path, written: set[Path]) -> list[str]:
    """Return what is wrong with the way a command ended."""
    found = []
    if result.status not in (0, 1, 2, 3):
        found.append(f"status {result.status}")
    if "Traceback" in result.err or "Traceback" in result.out:
        found.append("a traceback")
    lines = result.err.splitlines()
    if result.status == 2 and not (lines and lines[-1].startswith("mmaproof: error: ")):
        found.append("no line that says why")
    if sum(line.startswith("mmaproof: error: ") for line in lines) > 1 or len(result.err) > 5000:
        found.append("more than one line")
    shown = (result.out + result.err).replace("\n", "")
    if unsafe := {c for c in shown if unicodedata.category(c) in ("Cc", "Cs") or c == "\u202e"}:
        found.append(f"raw characters {unsafe}")
    new = {path for path in folder.rglob("*") if path.is_file()} - written
    if half := [path.name for path in new if "partial" in path.name]:
        found.append(f"half-written {half}")
    for path in new:
        text = path.read_bytes()
        if text[:1] == b"{":
            json.loads(text)
        elif text[:5] == b"<?xml":
            ET.fromstring(text)
    if new and result.status == 2:
        found.append(f"status 2, and {[path.name for path in new]}")
    for path in new:
        path.unlink()
    return found


@pytest.mark.parametrize("seed", range(6))
def test_every_command_ends_as_documented(
    seed: int, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MMAPROOF_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "folder").mkdir()
    draw = Hostile(seed, tmp_path)
    for _ in range(int(os.environ.get("MMAPROOF_HOSTILE", COUNT))):
        arguments, stdin = draw()
        written = {path for path in tmp_path.rglob("*") if path.is_file()}
        result = ended(arguments, stdin)
        assert not complaints(result, tmp_path, written), (arguments, stdin[:500], result)


MNEMONICS = (
    "ld.shared.b32", "st.shared.b32", "ldmatrix.sync.aligned.m8n8.x4.shared.b16",
    "movmatrix.sync.aligned.m8n8.trans.b16", "stmatrix.sync.aligned.m8n8.x1.shared.b16",
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "wmma.load.a.sync.aligned.row.m16n16k16.f16",
    "wmma.store.d.sync.aligned.row.m16n16k16.f32", "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32",
    "cp.async.ca.shared.global", "cp.async.wait_group", "cp.async.commit_group", "cp.async.wait_all",
    "bar.sync", "barrier.sync", "bar.warp.sync", "atom.global.add.f32", "red.global.add.f32",
    "cvta.to.global.u64", "isspacep.global", "shfl.sync.bfly.b32", "prmt.b32", "lop3.b32", "bfe.u32",
    "bfi.b32", "setp.lt.s32", "selp.b32", "mad.lo.s32", "cvt.rn.f32.s32", "mov.b32", "mov.b64",
    "shf.l.wrap.b32", "dp4a.s32.s32", "bra", "bra.uni", "ret", "exit", "vote.sync.any.pred",
    "fma.rn.f32", "createpolicy.fractional.L2::evict_first.b64", "prefetch.global.L2",
    "fence.proxy.async", "membar.cta", "activemask.b32", "nanosleep.u32", "mapa.u64", "trap", "call",
)  # fmt: skip


@pytest.mark.sample(16)
@pytest.mark.parametrize("mnemonic", MNEMONICS)
def test_an_instruction_with_any_operands_is_no_defect(
    mnemonic: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "contract.toml").write_text(CONTRACT)
    operands = ("%r3", "[%r5]", "{%r3, %r4}", "7", "%p1", "%f1", "$done", "tile")
    for count, kind in ((0, 0), (1, 1), (2, 0), (3, 2), (5, 0), (1, 4), (2, 6), (6, 0)):
        shown = ", ".join(operands[(kind + place) % len(operands)] for place in range(count))
        line = f"{mnemonic} {shown};\n$done:"
        (tmp_path / "kernel.ptx").write_text(KERNEL.replace("$done:", line))
        result = ended(["verify", "kernel.ptx", "--contract", "contract.toml"], b"")
        assert result.status in (0, 1, 2, 3), (line, result)
        assert result.status != 2 or result.err.startswith("mmaproof: error: kernel.ptx:"), (line, result)
