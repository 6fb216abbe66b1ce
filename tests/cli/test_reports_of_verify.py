"""What ``mmaproof verify`` leaves for CI: JUnit XML, SARIF, annotations and a summary of the step."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote
from xml.etree import ElementTree as ET

import pytest
from command_line import Result, mmaproof
from document_schemas import validate
from triton_contracts import CORPUS, KERNELS, contract

from mmaproof.refinement.findings.finding import Kind

RIGHT = "gemm_s8_s32_s32_32x32x32_s1_ragged_sm80.ptx"
FLOATING = "gemm_f16_f32_f32_32x32x32_s1_sm80.ptx"
SHORT = "gemm_f16_f32_f32_32x64x32_s2_sm80_fault_k_loop_short.ptx"
BITS = ("[ensures]\n", '[ensures]\nequality = "bits"\n')


@pytest.fixture
def reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Where reports go; nobody is on GitHub unless a test says so."""
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)
    return SimpleNamespace(junit=tmp_path / "out.xml", sarif=tmp_path / "out.sarif", folder=tmp_path)


def verified(reports: SimpleNamespace, kernel: Path, name: str, edit: tuple[str, str] = ("", "")) -> Result:
    """Verify a kernel against the contract of the kernel of that name."""
    against = reports.folder / "gemm.toml"
    against.write_text(contract(KERNELS[name]).replace(*edit), encoding="utf-8")
    options = ("--junit", reports.junit, "--sarif", reports.sarif)
    saved = reports.folder / "saved"
    return mmaproof("verify", kernel, "--contract", against, "--counterexamples", saved, *options)


def unmodelled(reports: SimpleNamespace) -> tuple[Path, int]:
    """Return a kernel that adds with a video instruction, and the line on which it does."""
    text = (CORPUS / FLOATING).read_text(encoding="utf-8")
    barrier = text.index("bar.sync")
    kernel = reports.folder / "grid, 100%.ptx"
    kernel.write_text(f"{text[:barrier]}vadd.s32.s32.s32 %r1, %r1, %r1;\n{text[barrier:]}", encoding="utf-8")
    return kernel, text[:barrier].count("\n") + 1


def log_of(reports: SimpleNamespace) -> dict:
    log = json.loads(reports.sarif.read_text(encoding="utf-8"))
    validate("sarif-subset", log)
    (run,) = log["runs"]
    return run


def file_and_line(location: dict) -> tuple[str, int]:
    place = location["physicalLocation"]
    return place["artifactLocation"]["uri"], place["region"]["startLine"]


def suites(reports: SimpleNamespace) -> ET.Element:
    root = ET.parse(reports.junit).getroot()
    for each in (root, *root.iter("testsuite")):
        assert int(each.get("tests")) == len(list(each.iter("testcase")))
        for attribute, element in (("failures", "failure"), ("skipped", "skipped"), ("errors", "error")):
            assert int(each.get(attribute)) == len(list(each.iter(element)))
    return root


def test_a_verified_kernel_passes(reports: SimpleNamespace) -> None:
    assert verified(reports, CORPUS / RIGHT, RIGHT).status == 0
    (case,) = suites(reports).iter("testcase")
    assert len(case) == 0
    assert "M = " in case.get("name") and "(bits)" in case.get("name")
    assert log_of(reports)["results"] == []


def test_a_refuted_kernel_fails_at_its_lines(reports: SimpleNamespace) -> None:
    result = verified(reports, CORPUS / SHORT, SHORT)
    assert result.status == 1
    cases = list(suites(reports).iter("testcase"))
    assert [[each.tag for each in case] for case in cases] == [["failure"]] * len(cases) != []
    results = log_of(reports)["results"]
    assert len(results) == len(cases)
    for found in results:
        assert (found["ruleId"], found["kind"], found["level"]) == ("verify/wrong-value", "fail", "error")
        (place,) = found["locations"]
        file, line = file_and_line(place)
        assert file == str(CORPUS / "gemm.py").removeprefix(f"{Path.cwd()}/")  # the source, which is at hand
        assert f"gemm.py:{line} ({CORPUS / SHORT}:" in result.out
    assert len({found["partialFingerprints"]["finding/v1"] for found in results}) == len(results)


def test_what_is_not_modelled_is_skipped(reports: SimpleNamespace) -> None:
    kernel, line = unmodelled(reports)
    assert verified(reports, kernel, FLOATING).status == 3
    (case,) = suites(reports).iter("testcase")
    (skipped,) = case
    assert skipped.tag == "skipped" and "vadd" in skipped.get("message")
    (found,) = log_of(reports)["results"]
    assert (found["ruleId"], found["kind"], found["level"]) == ("verify/unsupported", "open", "none")
    assert found["locations"][0]["physicalLocation"]["region"]["startLine"] == line


def test_what_is_undecided_is_skipped_with_the_reason(reports: SimpleNamespace) -> None:
    assert verified(reports, CORPUS / FLOATING, FLOATING, BITS).status == 3
    skipped = next(each for case in suites(reports).iter("testcase") for each in case)
    assert skipped.tag == "skipped" and "over the reals only" in skipped.get("message")
    found = log_of(reports)["results"][0]
    assert (found["ruleId"], found["kind"]) == ("verify/undecided", "open")
    assert found["locations"][0]["physicalLocation"]["region"]["startLine"] > 1


def test_every_kind_of_finding_is_a_rule_with_help(reports: SimpleNamespace) -> None:
    verified(reports, CORPUS / RIGHT, RIGHT)
    rules = {rule["id"]: rule["help"]["text"] for rule in log_of(reports)["tool"]["driver"]["rules"]}
    assert rules.keys() == {f"verify/{kind}" for kind in Kind}
    assert all(kind.meaning in rules[f"verify/{kind}"] for kind in Kind)
    assert len(set(rules.values())) == len(rules)


@pytest.mark.parametrize(
    ("unsupported", "level", "meaning"),
    [(False, "error", "the kernel is refuted"), (True, "warning", "the kernel is not decided")],
)
def test_github_is_told(
    reports: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, unsupported: bool, level: str, meaning: str
) -> None:
    kernel, name = (unmodelled(reports)[0], FLOATING) if unsupported else (CORPUS / SHORT, SHORT)
    summary = reports.folder / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    assert "::" not in verified(reports, kernel, name).out and not summary.exists()
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    found = log_of(reports)["results"]
    told = [line for line in verified(reports, kernel, name).out.splitlines() if line.startswith("::")]
    assert len(told) == len(found)
    for annotation, result in zip(told, found, strict=True):
        uri, line = file_and_line(result["locations"][0])
        file = unquote(uri).replace("%", "%25").replace(",", "%2C")
        assert annotation.startswith(f"::{level} file={file},line={line},title={result['ruleId']}::")
    text = summary.read_text(encoding="utf-8")
    assert text.startswith(f"### mmaproof verify: {meaning}\n")
    assert "they say" not in text and f"{found[0]['ruleId']}: " in text


def test_github_is_told_of_a_verified_kernel(
    reports: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = reports.folder / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert "::" not in verified(reports, CORPUS / RIGHT, RIGHT).out
    heading, *_, row = summary.read_text(encoding="utf-8").splitlines()
    assert heading == "### mmaproof verify: the kernel computes what its contract says"
    assert row == f"| {CORPUS / RIGHT} | 1 | 1 | 0 | 0 |"


@pytest.mark.parametrize("option", ["--junit", "--sarif"])
def test_reports_that_cannot_be_written(reports: SimpleNamespace, option: str) -> None:
    setattr(reports, option.removeprefix("--"), reports.folder / "no" / "report")
    result = verified(reports, CORPUS / RIGHT, RIGHT)
    assert result.wrong_use and "can't be written" in result.err
