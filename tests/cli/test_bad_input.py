"""Wrong use ends with status 2 and one line that says what was wrong: no traceback, no file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from command_line import mmaproof

X = np.ones((4, 1))
KNOWN = "power/masking/disabled/pmxvi8ger4"


@pytest.fixture(autouse=True)
def workplace(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """Work in an empty folder with a few inputs, and check that nothing is added."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MMAPROOF_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
    np.savez("good.npz", x=X, y=X, acc=np.ones((4, 4)))
    np.savez("objects.npz", x=np.array([None]), y=X)
    np.savez("shape.npz", x=X.T, y=X)
    np.savez("complex.npz", x=X * 1j, y=X)
    np.savez("fraction.npz", x=X + 0.1, y=X)
    np.savez("bare.npz", x=X, y=X)
    np.save("array.npy", X)
    Path("empty.npz").touch()
    whole = Path("good.npz").read_bytes()
    Path("cut.npz").write_bytes(whole[: len(whole) // 2])
    Path("text.npz").write_text("no archive")
    document = {"schema": 1, "kind": "obligation", "obligation": KNOWN, "inputs": {}, "difference": None}
    for name, content in {
        "list.json": [],
        "other.json": {**document, "kind": "kernel"},
        "schema.json": {**document, "schema": 2},
        "unknown.json": {**document, "obligation": "power/no/such/thing"},
        "number.json": {**document, "obligation": ["power"]},
        "inputs.json": {**document, "inputs": [1]},
        "missing.json": document,
        "bits.json": {**document, "inputs": {"x": {"bits": ["0x1"]}}},
    }.items():
        Path(name).write_text(json.dumps(content))
    Path("broken.json").write_text('{"schema": 1,')
    Path("nested.json").write_text("[" * 100_000)
    Path("binary.json").write_bytes(b"\xff\xfe\x00")
    Path("folder").mkdir()
    return tmp_path


RUN_OUT = ("--out", "out.npz")

CASES = [
    # -- arguments
    (("frobnicate",), "No such command 'frobnicate'"),
    (("--frobnicate",), "No such option"),
    (("check", "--jobs", "x"), "--jobs"),
    (("check", "--jobs", "0"), "--jobs"),
    (("check", "--timeout", "0"), "timeout must be a positive number of seconds, at most 1e+06, not 0"),
    (("check", "--timeout", "nan"), "timeout must be a positive number"),
    (("check", "--solver", "yices"), "unknown solver 'yices'; known: z3"),
    (("legal",), "Missing argument 'INSTR|FILE|-'"),
    (("export", KNOWN), "Missing option '--out'"),
    (("tables", "power", "--format", "xml"), "'md', 'csv', 'json'"),
    (("tables", "--rules", "--contradictions"), "two tables"),
    (("tables", "vax"), "unknown ISA 'vax'; known: power"),
    # -- unknown obligations
    (("check", "power/no/such/thing"), "no obligation matches 'power/no/such/thing'; "),
    (("check", KNOWN, "vax"), "no obligation matches 'vax'"),
    (("list", "vax"), "no obligation or instruction matches 'vax'"),
    (("layout", "xvf32ger"), "--operand is missing; xvf32ger has x, y, acc"),
    (("explain", "xvf32gerqq"), "nothing is called 'xvf32gerqq'; did you mean"),
    (("explain", "sm_999"), "nothing is called 'sm_999'; did you mean"),
    (("explain", "power/"), "'power/' is not unique: power/"),
    (("explain", ""), "a name is expected"),
    (("explain", "mma\udcff"), r"nothing is called 'mma\udcff'"),
    (("export", "vax", "--out", "smt"), "no obligation matches 'vax'"),
    # -- unknown instructions and targets
    (("legal", "xvf32gerqq"), "unknown mnemonic 'xvf32gerqq'; did you mean"),
    (("legal", "xvf32ger a0,vs34"), "xvf32ger takes 3 operands AT,XA,XB, not 2"),
    (("legal", ""), "an instruction is expected"),
    (("legal", "xvf32ger", "--target", "power7"), "unknown target 'power7'; did you mean power"),
    (("legal", "mma", "--target", "sm_12"), "unknown target 'sm_12'; did you mean sm_12"),
    (("legal", "mma", "--target", "vax"), "unknown target 'vax'; power has power8 and 4 more, ptx has sm_70"),
    (("legal", "-", "--target", "power7"), "unknown target 'power7'"),
    # -- run
    (("run",), "run takes INSTR and IN.npz"),
    (("run", "xvf32gerqq", "good.npz", *RUN_OUT), "unknown mnemonic"),
    (("run", "pmxvf32ger a0,vs34,vs35,16,0", "good.npz", *RUN_OUT), "mask-range: XMSK must be 0..15, not 16"),
    (("run", "xvf64ger a0,vs33,vs36", "good.npz", *RUN_OUT), "odd-pair"),
    (("run", "xvf32ger a0,vs3,vs36", "good.npz", *RUN_OUT), "vsr-overlap: XA = vs3 overlaps a0"),
    (("run", "pmxvf32ger", "good.npz", *RUN_OUT), "needs its masks"),
    (("run", "xvf32gerpp", "bare.npz", *RUN_OUT), "the accumulator is not primed"),
    (("run", "xvf32ger", "shape.npz", *RUN_OUT), "x has shape (1, 4); it must be (…, 4, 1)"),
    (("run", "xvf32ger", "complex.npz", *RUN_OUT), "x has dtype complex128"),
    (("run", "xvf32ger", "fraction.npz", *RUN_OUT), "x[0, 0] = 1.1 is not exactly representable in f32"),
    (("run", "xvf32ger", "good.npz", "--registers", *RUN_OUT), "x has dtype float64"),
    (("run", "xvf32ger", "objects.npz", *RUN_OUT), "objects.npz: the array 'x' holds objects"),
    (("run", "xvf32ger", "array.npy", *RUN_OUT), "array.npy: one array (.npy)"),
    (("run", "xvf32ger", "empty.npz", *RUN_OUT), "empty.npz: not an .npz file"),
    (("run", "xvf32ger", "cut.npz", *RUN_OUT), "cut.npz: not an .npz file"),
    (("run", "xvf32ger", "text.npz", *RUN_OUT), "text.npz: not an .npz file"),
    (("run", "xvf32ger", "absent.npz", *RUN_OUT), "absent.npz: can't be read: No such file"),
    (("run", "xvf32ger", "folder", *RUN_OUT), "folder: can't be read: Is a directory"),
    (("run", "xvf32ger", "good.npz", *RUN_OUT, "--rounding", "up"), "unknown rounding 'up'"),
    (("run", "xvf32ger", "good.npz", *RUN_OUT, "--choice", "hopper"), "unknown choice 'hopper'; known: isa"),
    (("run", "xvf32ger", "good.npz", *RUN_OUT, "--choice", "nan=7"), "nan can't be '7'; known: operand"),
    # -- replay
    (("replay", "absent.json"), "absent.json: can't be read: No such file"),
    (("replay", "folder"), "folder: can't be read: Is a directory"),
    (("replay", "broken.json"), "broken.json:1: not JSON"),
    (("replay", "nested.json"), "nested.json: not JSON"),
    (("replay", "binary.json"), "binary.json:1: not UTF-8"),
    (("replay", "list.json"), "list.json: not a counterexample"),
    (("replay", "other.json"), "other.json: not a counterexample"),
    (("replay", "schema.json"), "schema.json: schema must be 1, not 2"),
    (("replay", "unknown.json"), "unknown.json: no obligation 'power/no/such/thing'"),
    (("replay", "number.json"), "number.json: no obligation ['power']"),
    (("replay", "inputs.json"), 'inputs.json: the counterexample has no "inputs" object'),
    (("replay", "missing.json"), "missing.json: input 'x' must have 16 encodings"),
    (("replay", "bits.json"), "bits.json: input 'x' must have 16 encodings"),
    # -- results that can't be written
    (("run", "xvf32ger", "good.npz", "--out", "no/folder.npz"), "no/folder.npz: can't be written"),
    (("run", "xvf32ger", "good.npz", "--out", "folder"), "folder: can't be written: it is a directory"),
    (("check", KNOWN, "--json", "no/report.json"), "no/report.json: can't be written: No such file"),
    (("check", KNOWN, "--html", "folder"), "folder: can't be written: it is a directory"),
    (("check", KNOWN, "--json", "same", "--html", "same"), "same: can't be written"),
    (("check", KNOWN, "--json", "new.json", "--sarif", "no/report"), "no/report: can't be written"),
    (("check", KNOWN, "--counterexamples", "good.npz"), "good.npz: can't be written"),
    (("tables", "--out", "no/table.md"), "no/table.md: can't be written"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "message"), CASES, ids=[" ".join(case[0])[:60] for case in CASES])
def test_wrong_use(workplace: Path, arguments: tuple[str, ...], message: str) -> None:
    before = sorted(workplace.rglob("*"))
    result = mmaproof(*arguments)
    assert result.wrong_use, result
    assert message in result.err
    assert sorted(workplace.rglob("*")) == before


def test_an_unwritable_report_is_noticed_before_anything_is_proved(
    workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*_: object, **__: object) -> None:
        raise AssertionError("something was decided")

    monkeypatch.setattr("mmaproof.proofs.runner.run", run)
    for option in ("--json", "--junit", "--sarif", "--html"):
        assert mmaproof("check", KNOWN, option, workplace / "no" / "file").wrong_use


def test_an_existing_result_survives_a_failure(workplace: Path) -> None:
    Path("out.npz").write_text("precious")
    assert mmaproof("run", "xvf32ger", "shape.npz", *RUN_OUT).wrong_use
    assert Path("out.npz").read_text() == "precious"
