"""``mmaproof check`` and ``replay``: statuses, what is printed, what is written."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree as ET

import pytest
import runner_obligations
import toy_mutation_catalogue
import toy_specification
from command_line import Result, mmaproof
from document_schemas import validate
from toy_theorems import (
    COMMUTES,
    ENUMERATED,
    FALSE,
    IN_RING,
    INDUCTIVE,
    OBLIGATIONS,
    PINNED,
    THEOREMS,
    verdict,
)

from mmaproof.proofs import runner
from mmaproof.proofs.obligation import Status
from mmaproof.proofs.rechecking import Recheck
from mmaproof.proofs.verdict import Verdict
from mmaproof.proofs.worker import WorkerAssignment
from mmaproof.smt.clause_proofs import main
from tools.mutation.scope import Role, SpecificationModule
from tools.mutation.score import Fate
from tools.mutation.source_faults import Fault
from tools.mutation.survivor_tests import Ending, SurvivorTests

SOURCE = Path(__file__).parents[2]
"""Where ``tools`` is."""

REAL = "power/masking/disabled/pmxvi8ger4pp"


@pytest.fixture
def toys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Put the toy theorems in the catalogue's place; run what is `chosen` and find `verdicts`."""
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)
    state = SimpleNamespace(chosen=[], verdicts={})
    decide = runner.run

    def run(obligations, settings, report):
        chosen = lambda found: state.verdicts.get(found.id, found)  # noqa: E731
        decided = decide(obligations, runner.Settings(jobs=0), lambda found: report(chosen(found)))
        return [chosen(found) for found in decided]

    monkeypatch.setattr("mmaproof.proofs.runner.run", run)
    monkeypatch.setattr("mmaproof.proofs.catalogue.select", lambda patterns: state.chosen)
    monkeypatch.setattr("mmaproof.proofs.catalogue.theorems", lambda patterns=(): THEOREMS)
    monkeypatch.setattr("mmaproof.proofs.catalogue.obligations", lambda: OBLIGATIONS)
    monkeypatch.setattr("mmaproof.proofs.pinned.matching", lambda patterns: list(OBLIGATIONS.values()))
    monkeypatch.setattr("mmaproof.proofs.counterexample_files.obligations", lambda: OBLIGATIONS)
    state.pinned = {o.id: o.expect for o in OBLIGATIONS.values()}
    monkeypatch.setattr("mmaproof.proofs.pinned.pinned", lambda: state.pinned)
    return state


def checked(state: SimpleNamespace, *obligations) -> Result:
    state.chosen = list(obligations)
    return mmaproof("check")


def test_comparisons_with_stated_results_have_a_total_of_their_own(toys: SimpleNamespace) -> None:
    line = "of them compare the specification with independent statements"
    assert line not in checked(toys, COMMUTES, PINNED).out
    compared = replace(verdict(COMMUTES, Status.PROVED), method="comparison")
    toys.verdicts = {COMMUTES.id: compared}
    assert f"\n1 {line}\n" in checked(toys, COMMUTES, PINNED).out


def test_what_instruction_sets_share_is_counted_once() -> None:
    line = "3 of them repeat a shared claim for another instruction set"
    assert line in mmaproof("check", "*/stated/sums/integers").out
    assert "repeat a shared" not in mmaproof("check", "ptx/stated/sums/integers").out


def test_a_run_as_expected_has_status_0_and_writes_nothing(toys: SimpleNamespace, tmp_path: Path) -> None:
    result = checked(toys, COMMUTES, PINNED)
    assert result.status == 0
    assert result.err == ""
    assert "2 obligations: 1 proved, 1 refuted as pinned, 0 unknown, 0 unexpected, 0 error" in result.out
    assert list(tmp_path.iterdir()) == []


def test_a_refutation_is_shown_saved_and_replayed(toys: SimpleNamespace, tmp_path: Path) -> None:
    result = checked(toys, COMMUTES, PINNED, FALSE)
    assert result.status == 1
    assert f"{FALSE.id}: refuted, expected proved" in result.out
    assert "left value" in result.out and FALSE.statement in result.out
    (command,) = [line for line in result.out.splitlines() if "mmaproof replay" in line]
    (saved,) = tmp_path.rglob("*.json")
    assert command.endswith(str(saved.relative_to(tmp_path)))
    validate("counterexample", json.loads(saved.read_text()))
    replayed = mmaproof("replay", saved)
    assert replayed.status == 1
    assert replayed.err == ""
    assert "the claim does not hold on these inputs" in replayed.out
    shown = [line for line in replayed.out.splitlines() if "value" in line]
    assert shown and all(line in result.out for line in shown)


def test_pinned_counterexamples_are_saved_when_asked_for(toys: SimpleNamespace, tmp_path: Path) -> None:
    toys.chosen = [COMMUTES, PINNED]
    assert mmaproof("check", "--counterexamples", tmp_path / "a" / "b").status == 0
    (saved,) = (tmp_path / "a" / "b").iterdir()
    replayed = mmaproof("replay", saved)
    assert replayed.status == 1
    assert "0xff (255)" in replayed.out and "0x00 (0)" in replayed.out
    assert "expected: a pinned non-theorem" in replayed.out


def test_a_counterexample_that_holds_now_has_status_0(toys: SimpleNamespace, tmp_path: Path) -> None:
    toys.chosen = [PINNED]
    mmaproof("check", "--counterexamples", tmp_path)
    (saved,) = tmp_path.iterdir()
    document = json.loads(saved.read_text())
    document["inputs"]["y"]["bits"] = ["0x00"]
    saved.write_text(json.dumps(document))
    replayed = mmaproof("replay", saved)
    assert replayed.status == 0
    assert "the claim holds on these inputs: the counterexample does not replay" in replayed.out
    assert replayed.err == "mmaproof: the difference differs from the one recorded in the file\n"


def test_a_counterexample_in_a_ring_is_computed_again(toys: SimpleNamespace, tmp_path: Path) -> None:
    assert checked(toys, IN_RING).status == 1
    (saved,) = tmp_path.rglob("*.json")
    replayed = mmaproof("replay", saved)
    assert replayed.status == 1
    assert "left value  = 6\n  right value = 3" in replayed.out


@pytest.mark.parametrize("obligation", [COMMUTES, ENUMERATED, INDUCTIVE], ids=lambda o: o.id)
def test_a_counterexample_to_what_holds_is_not_confirmed(
    toys: SimpleNamespace, tmp_path: Path, obligation
) -> None:
    inputs = {
        "x": {"format": "u8", "shape": [2], "bits": ["0x01", "0x02"], "values": ["1", "2"]},
        "y": {"format": "u8", "shape": [1], "bits": ["0x03"], "values": ["3"]},
    }
    path = tmp_path / "made-up.json"
    document = {"schema": 1, "kind": "obligation", "obligation": obligation.id, "inputs": inputs}
    path.write_text(json.dumps(document))
    result = mmaproof("replay", path)
    if obligation is INDUCTIVE:
        assert result.wrong_use and "follows from others: its premises have the counterexamples" in result.err
    else:
        assert (result.status, result.err) == (0, "")


@pytest.mark.parametrize(
    ("status", "code", "shown"),
    [
        (Status.UNKNOWN, 3, "some obligations are undecided"),
        (Status.ERROR, 4, "mmaproof has a defect"),
        (Status.REFUTED, 1, "a verdict is not the expected one"),
    ],
)
def test_statuses_decide_the_exit_status(
    toys: SimpleNamespace, status: Status, code: int, shown: str
) -> None:
    toys.verdicts = {COMMUTES.id: verdict(COMMUTES, status, "the reason why")}
    result = checked(toys, COMMUTES, PINNED)
    assert result.status == code
    assert shown in result.out
    assert f"{COMMUTES.id}: {status}, expected proved: the reason why" in result.out


def test_a_pinned_non_theorem_that_is_proved_fails(toys: SimpleNamespace) -> None:
    toys.verdicts = {PINNED.id: verdict(PINNED, Status.PROVED)}
    assert checked(toys, COMMUTES, PINNED).status == 1


def test_an_undecided_obligation_does_not_hide_a_failure(toys: SimpleNamespace) -> None:
    toys.verdicts = {COMMUTES.id: verdict(COMMUTES, Status.UNKNOWN)}
    assert checked(toys, COMMUTES, FALSE).status == 1


def test_every_report_of_one_run(toys: SimpleNamespace, tmp_path: Path) -> None:
    toys.chosen = [COMMUTES, FALSE]
    paths = {kind: tmp_path / f"report.{kind}" for kind in ("json", "junit", "sarif", "html")}
    options = [argument for kind, path in paths.items() for argument in (f"--{kind}", path)]
    assert mmaproof("check", *options).status == 1
    validate("check", json.loads(paths["json"].read_text()))
    validate("sarif-subset", json.loads(paths["sarif"].read_text()))
    assert ET.parse(paths["junit"]).getroot().get("failures") == "1"
    assert paths["html"].read_text().startswith("<!doctype html>")
    assert not list(tmp_path.glob(".*"))


def test_another_set_than_the_pinned_one_fails(toys: SimpleNamespace, tmp_path: Path) -> None:
    toys.chosen = [COMMUTES, PINNED]
    toys.pinned |= {"power/toy/addition/gone": Status.PROVED, PINNED.id: Status.PROVED}
    del toys.pinned[COMMUTES.id]
    result = mmaproof("check", "--json", tmp_path / "report.json")
    assert (result.status, result.err) == (1, "")
    for line in (
        "power/toy/addition/gone: vanished: it is pinned as proved, and no longer in the catalogue",
        f"{COMMUTES.id}: appeared: it expects proved, and is not pinned",
        f"{PINNED.id}: changed: it is pinned as proved, and expects refuted now",
        "the obligations are not the pinned ones",
    ):
        assert line in result.out.splitlines()
    document = json.loads((tmp_path / "report.json").read_text())
    validate("check", document)
    assert document["summary"]["conclusion"] == "fails"
    assert document["summary"]["unpinned"] == len(document["unpinned"]) == 3


@pytest.fixture
def toy_faults(toys: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Let faults be put into the toy specification, and the catalogue on it decide."""
    monkeypatch.chdir(SOURCE)
    module = SpecificationModule(
        "toy_specification", Path(toy_specification.__file__), "toy_specification.py", "", Role.SEMANTICS
    )
    toys.chosen = list(toy_mutation_catalogue.obligations().values())
    monkeypatch.setattr("tools.mutation.command.modules_of", lambda isas: [module])
    monkeypatch.setattr(
        runner.Settings, "assignment", WorkerAssignment("z3", 60, None, toy_mutation_catalogue.CATALOGUE)
    )
    return toys


def test_mutants_are_scored_and_survivors_listed(toy_faults: SimpleNamespace, tmp_path: Path) -> None:
    result = mmaproof("check", "--mutants", 15, "--seed", 3, "--jobs", 2, "--json", tmp_path / "score.json")
    assert (result.status, result.err) == (0, "")
    lines = result.out.splitlines()
    assert (
        "survived: toy_specification.py:14: operator: x * 3 → x + 3 (no obligation enters the statement)"
        in lines
    )
    document = json.loads((tmp_path / "score.json").read_text())
    validate("mutants", document)
    summary = document["summary"]
    assert lines[-1] == f"score: {summary['score']:.1%} of {summary['mutants']} refuted or in error"
    assert len(document["mutants"]) == summary["mutants"] == sum(summary[outcome] for outcome in Fate)
    assert [path.name for path in tmp_path.iterdir()] == ["score.json"]


@pytest.mark.parametrize("version", [None, "0.0.0"])
def test_mutants_need_the_source_of_this_version(
    toy_faults: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str | None
) -> None:
    if version is not None:
        (tmp_path / "tools" / "mutation").mkdir(parents=True)
        (tmp_path / "tools" / "mutation" / "command.py").write_text("raise SystemExit(9)")
        (tmp_path / "pyproject.toml").write_text(f'[project]\nname = "mmaproof"\nversion = "{version}"')
    monkeypatch.chdir(tmp_path)
    installed = tmp_path / "installed" / "mmaproof" / "cli" / "mutation.py"
    monkeypatch.setattr("mmaproof.cli.mutation._PLACE", installed)
    result = mmaproof("check", "--mutants", 1)
    assert result.wrong_use and "run it there" in result.err


def test_there_are_only_so_many_mutants(toy_faults: SimpleNamespace) -> None:
    result = mmaproof("check", "--mutants", "1000000000000000000000")
    assert result.wrong_use and "--mutants: at most " in result.err


def test_survivors_are_tried_on_tests_if_told(
    toy_faults: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ended(_: SurvivorTests, module: SpecificationModule, fault: Fault) -> Ending:
        noticed = fault.new == "x + 3"
        return Ending("tests/test_toy.py::test_it" if noticed else "", "3 files of tests pass")

    monkeypatch.setattr(SurvivorTests, "of", ended)
    report = tmp_path / "score.json"
    result = mmaproof(
        "check", "--mutants", 15, "--seed", 3, "--jobs", 2, "--tests", tmp_path, "--json", report
    )
    lines = result.out.splitlines()
    assert any(line.endswith("the statement; noticed by tests/test_toy.py::test_it)") for line in lines)
    assert any(line.endswith("the statement; 3 files of tests pass)") for line in lines)
    document = json.loads(report.read_text())
    validate("mutants", document)
    summary = document["summary"]
    assert document["with_tests"] and summary["by_tests"] == 1
    assert summary["together"] == pytest.approx((15 - summary["survived"] + 1) / 15, abs=1e-4)
    assert lines[-1] == f"together with the tests: {summary['together']:.1%}, 1 by tests alone"
    of_tests = {each["test"] for each in document["mutants"] if each["outcome"] in ("refuted", "error")}
    assert of_tests == {""}


def test_mutants_of_a_catalogue_that_fails_are_not_tried(
    toy_faults: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    obligations = "runner_obligations:obligations"
    monkeypatch.setattr(runner.Settings, "assignment", WorkerAssignment("z3", 60, None, obligations))
    toy_faults.chosen = [runner_obligations.obligations()["test/raises"]]
    result = mmaproof("check", "--mutants", 1, "--json", tmp_path / "score.json")
    assert (result.status, result.out) == (1, "")
    assert "test/raises is error without a fault" in result.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("--mutants", 0),
        ("--mutants", "many"),
        ("--mutants", 1, "--junit", "a"),
        ("--mutants", 1, "--seed", "x"),
        ("--tests", "tests"),
        ("--mutants", 1, "--tests", "no such directory"),
    ],
)
def test_mutants_have_options_of_their_own(toys: SimpleNamespace, arguments: tuple) -> None:
    assert mmaproof("check", *arguments).wrong_use


def test_github_is_told_when_it_runs_this(
    toys: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    toys.verdicts = {
        IN_RING.id: verdict(IN_RING, Status.UNKNOWN, "time, 100%"),
        ENUMERATED.id: verdict(ENUMERATED, Status.ERROR, "a defect"),
    }
    obligations = (COMMUTES, PINNED, FALSE, IN_RING, ENUMERATED)
    assert "::" not in checked(toys, *obligations).out
    assert not summary.exists()
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    told = {line for line in checked(toys, *obligations).out.splitlines() if line.startswith("::")}
    levels = {o.id: level for o, level in ((FALSE, "error"), (IN_RING, "warning"), (ENUMERATED, "error"))}
    assert len(told) == len(levels)
    for name, level in levels.items():
        (line,) = (line for line in told if f"::{name}: " in line)
        assert line.startswith(f"::{level} title=power/toy/")
    text = summary.read_text()
    assert text.startswith("### mmaproof check: a verdict is not the expected one\n")
    shown = {
        entry.id: [line for line in text.splitlines() if f"| {entry.id} |" in line] for entry in THEOREMS
    }
    assert [len(lines) for lines in shown.values()] == [1] * len(THEOREMS)
    assert all(name in text for name in levels) and COMMUTES.id not in text
    assert "time, 100%" in text and "refuted, expected proved" in text


def test_a_report_may_go_to_a_device(toys: SimpleNamespace) -> None:
    toys.chosen = [COMMUTES]
    assert mmaproof("check", "--json", "/dev/null").status == 0
    assert Path("/dev/null").is_char_device()


def test_an_interrupted_run_reports_what_it_has(
    toys: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(obligations: object, settings: object, report: Callable[[Verdict], None]) -> None:
        report(verdict(COMMUTES, Status.PROVED))
        raise KeyboardInterrupt

    monkeypatch.setattr("mmaproof.proofs.runner.run", run)
    toys.chosen = [COMMUTES, ENUMERATED]
    result = mmaproof("check", "--json", tmp_path / "report.json", "--junit", tmp_path / "report.xml")
    assert (result.status, result.out, result.err) == (130, "", "mmaproof: error: interrupted\n")
    document = json.loads((tmp_path / "report.json").read_text())
    validate("check", document)
    first, second = document["obligations"]
    assert (first["status"], second["status"]) == ("proved", "unknown")
    assert "interrupted" in second["message"] and document["summary"]["conclusion"] == "undecided"
    assert ET.parse(tmp_path / "report.xml").getroot().find(".//skipped") is not None


def test_a_real_obligation_from_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MMAPROOF_CACHE", str(tmp_path / "cache"))
    for cached in (False, True):
        assert mmaproof("check", REAL, "--jobs", 1, "--json", "report.json").status == 0
        document = json.loads(Path("report.json").read_text())
        validate("check", document)
        (entry,) = document["obligations"]
        assert (entry["id"], entry["status"], entry["cached"]) == (REAL, "proved", cached)


def test_a_real_obligation_is_decided_again(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    result = mmaproof("check", REAL, "--recheck", "--jobs", 1, "--no-cache", "--json", report)
    assert result.status == 0 and "1 obligations decided again" in result.out
    _, _, listed = result.out.partition("took longest again")
    theorem, _, variant = REAL.rpartition("/")
    assert theorem in listed and f"{variant} (" in listed
    document = json.loads(report.read_text())
    validate("check", document)
    (again,) = (entry["recheck"] for entry in document["obligations"])
    totals = document["summary"]["recheck"]
    assert again["status"] == "confirmed" and totals["confirmed"] == 1
    assert 0 < totals["seconds"] == pytest.approx(again["seconds"], abs=1e-3)


def test_what_is_contradicted_is_a_defect_and_named(
    toys: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def contradicted(verdicts: list[Verdict], *_: object, **__: object) -> Recheck:
        (first,) = verdicts
        return Recheck({first.id: Verdict(first.id, Status.REFUTED, "other 1", message="other 1 has one")})

    monkeypatch.setattr("mmaproof.proofs.rechecking.decide_again", contradicted)
    toys.chosen = [COMMUTES]
    result = mmaproof("check", "--recheck")
    assert result.status == 4
    assert f"{COMMUTES.id}: error, expected proved: defect of mmaproof or of a solver" in result.out
    assert "contradicted" in result.out


def test_certificates_are_written_and_counted(tmp_path: Path) -> None:
    pytest.importorskip("pysat")
    result = mmaproof("check", REAL, "--certificates", tmp_path / "proofs", "--jobs", 1, "--no-cache")
    assert result.status == 0
    assert "with glucose 4 (accepted by dratify" in result.out
    (formula,) = (tmp_path / "proofs").glob("*.cnf")
    assert main([str(formula), str(formula.with_suffix(".drup"))]) == 0
