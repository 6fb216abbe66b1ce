"""The reports of a run: totals, JSON, JUnit XML, SARIF and HTML, all from the same verdicts."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from chromium import Browser
from document_schemas import validate
from html_pages import Page
from toy_theorems import COMMUTES, FALSE, IN_RING, OBLIGATIONS, PASSING, PINNED, THEOREMS, verdict

from mmaproof.proofs import runner
from mmaproof.proofs.obligation import Status
from mmaproof.proofs.outcomes import Agreement, tallied
from mmaproof.proofs.pinned import PinnedDifference
from mmaproof.reports import check_report, github, html, json_report, junit, sarif
from mmaproof.reports.check_report import CheckReport
from mmaproof.reports.report import Conclusion

RUN = list(OBLIGATIONS.values())


def reported(*verdicts, obligations=None, unpinned=()) -> CheckReport:
    chosen = obligations or [OBLIGATIONS[v.id] for v in verdicts]
    return check_report.report(tallied(chosen, verdicts, THEOREMS, 1.5, unpinned), "1.2.3")


@pytest.fixture(scope="module")
def decided() -> CheckReport:
    return reported(*runner.run(RUN, runner.Settings(jobs=0)))


@pytest.mark.parametrize(
    ("obligation", "status", "agreement", "conclusion"),
    [
        (COMMUTES, Status.PROVED, Agreement.PROVED, Conclusion.HOLDS),
        (COMMUTES, Status.REFUTED, Agreement.UNEXPECTED, Conclusion.FAILS),
        (COMMUTES, Status.UNKNOWN, Agreement.UNKNOWN, Conclusion.UNDECIDED),
        (COMMUTES, Status.ERROR, Agreement.DEFECT, Conclusion.DEFECT),
        (PINNED, Status.REFUTED, Agreement.PINNED, Conclusion.HOLDS),
        (PINNED, Status.PROVED, Agreement.UNEXPECTED, Conclusion.FAILS),
        (PINNED, Status.UNKNOWN, Agreement.UNKNOWN, Conclusion.UNDECIDED),
        (PINNED, Status.ERROR, Agreement.DEFECT, Conclusion.DEFECT),
    ],
)
def test_a_run_holds_only_if_every_status_is_the_expected_one(
    obligation, status, agreement, conclusion
) -> None:
    found = reported(verdict(obligation, status))
    assert found.run.outcomes[0].agreement is agreement
    assert found.conclusion is conclusion
    assert (found.run.spoiling == ()) == (conclusion is Conclusion.HOLDS)


def test_a_failure_outweighs_what_is_undecided_and_comes_first() -> None:
    found = reported(verdict(COMMUTES, Status.UNKNOWN), verdict(FALSE, Status.REFUTED))
    assert found.conclusion is Conclusion.FAILS
    assert [outcome.obligation for outcome in found.run.spoiling] == [FALSE, COMMUTES]


def test_an_obligation_without_a_verdict_is_a_defect() -> None:
    found = reported(verdict(COMMUTES, Status.PROVED), obligations=[COMMUTES, FALSE])
    assert [outcome.agreement for outcome in found.run.outcomes] == [Agreement.PROVED, Agreement.DEFECT]


def test_every_outcome_is_in_exactly_one_theorem(decided: CheckReport) -> None:
    assert sorted(o.obligation.id for t in decided.run.theorems for o in t.outcomes) == sorted(OBLIGATIONS)
    assert sum(decided.run.count(agreement) for agreement in Agreement) == len(RUN)


def test_every_report_says_what_is_not_as_pinned() -> None:
    unpinned = (PinnedDifference("power/toy/addition/gone", Status.PROVED, None),)
    found = reported(verdict(COMMUTES, Status.PROVED), unpinned=unpinned)
    assert found.conclusion is Conclusion.FAILS
    validate("check", json.loads(json_report.render(found)))
    log = json.loads(sarif.render(found))
    validate("sarif-subset", log)
    (run,) = log["runs"]
    (result,) = run["results"]
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    suites = ET.fromstring(junit.render(found))
    assert (suites.get("tests"), suites.get("failures")) == ("2", "1")
    summary = github.step_summary(found)
    for text in (sarif.render(found), junit.render(found), html.render(found), summary):
        assert "power/toy/addition/gone" in text and "vanished" in text
    assert found.headline in summary


def test_json_has_the_documented_form_and_the_verdicts(decided: CheckReport) -> None:
    document = json.loads(json_report.render(decided))
    validate("check", document)
    assert {entry["id"]: entry["status"] for entry in document["obligations"]} == {
        outcome.obligation.id: outcome.verdict.status for outcome in decided.run.outcomes
    }
    totals = document["summary"]
    assert sum(totals[status] for status in Status) == totals["obligations"] == len(RUN)
    assert totals["expected"] + totals["unexpected"] + totals["unknown"] == len(RUN)


def test_junit_passes_what_is_expected_and_skips_what_is_undecided() -> None:
    statuses = {
        COMMUTES: Status.UNKNOWN,
        FALSE: Status.REFUTED,
        PINNED: Status.REFUTED,
        IN_RING: Status.ERROR,
    }
    root = ET.fromstring(junit.render(reported(*(verdict(o, s, "why <&>") for o, s in statuses.items()))))
    details = {
        f"{case.get('classname')}/{case.get('name')}": [child.tag for child in case]
        for case in root.iter("testcase")
    }
    assert details == {
        COMMUTES.id: ["skipped"], FALSE.id: ["failure"], PINNED.id: [], IN_RING.id: ["error"]
    }  # fmt: skip
    assert all("why <&>" in child.get("message", "") for case in root.iter("testcase") for child in case)
    for tally in (root, *root.iter("testsuite")):
        cases = list(tally.iter("testcase"))
        assert int(tally.get("tests", "")) == len(cases)
        for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(tally.get(attribute, "")) == sum(case.find(tag) is not None for case in cases)


def test_junit_has_the_counterexample(decided: CheckReport) -> None:
    root = ET.fromstring(junit.render(decided))
    (failure,) = root.findall(".//testcase[@name='absorbs']/failure")
    assert "left value" in (failure.text or "")


def test_junit_survives_characters_that_xml_has_not() -> None:
    root = ET.fromstring(junit.render(reported(verdict(COMMUTES, Status.ERROR, "bell \a, nul \0"))))
    (error,) = root.iter("error")
    assert "bell \N{REPLACEMENT CHARACTER}, nul" in error.get("message", "")


def test_sarif_has_a_rule_per_theorem_and_a_result_per_surprise() -> None:
    statuses = {
        COMMUTES: Status.UNKNOWN,
        FALSE: Status.REFUTED,
        PINNED: Status.REFUTED,
        IN_RING: Status.ERROR,
    }
    log = json.loads(sarif.render(reported(*(verdict(o, s) for o, s in statuses.items()))))
    validate("sarif-subset", log)
    (run,) = log["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert rules == [theorem.id for theorem in THEOREMS]
    found = {}
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
        (location,) = result["locations"]
        found[location["logicalLocations"][0]["fullyQualifiedName"]] = (result["kind"], result["level"])
    assert found == {
        FALSE.id: ("fail", "error"),
        IN_RING.id: ("fail", "error"),
        COMMUTES.id: ("open", "none"),
    }


def test_html_is_one_balanced_page_that_loads_nothing(decided: CheckReport) -> None:
    page = Page(html.render(decided))
    for outcome in decided.run.outcomes:
        assert outcome.obligation.id in page.text
    assert "Other <methods>" in page.text and "arithmetic <&> school" in page.text
    assert "left value" in page.text


def test_every_report_says_the_same(decided: CheckReport) -> None:
    surprising = {o.obligation.id for o in decided.run.spoiling}
    assert surprising == {FALSE.id, IN_RING.id}
    of_json = {
        entry["id"] for entry in decided.document()["obligations"] if entry["status"] != entry["expect"]
    }
    of_junit = {
        f"{case.get('classname')}/{case.get('name')}"
        for case in ET.fromstring(junit.render(decided)).iter("testcase")
        if len(case)
    }
    of_sarif = {
        result["partialFingerprints"]["obligation/v1"]
        for result in sarif.document(decided)["runs"][0]["results"]
    }
    assert of_json == of_junit == of_sarif == surprising


def test_a_run_as_expected_has_nothing_to_show() -> None:
    found = reported(*runner.run(PASSING, runner.Settings(jobs=0)))
    assert found.conclusion is Conclusion.HOLDS
    assert sarif.document(found)["runs"][0]["results"] == []
    assert "Not as expected" not in html.render(found)


def test_the_page_shows_pinned_counterexamples_statements_and_what_obligations_are_about() -> None:
    found = reported(*runner.run(PASSING, runner.Settings(jobs=0)))
    text = Page(html.render(found)).text
    assert "counterexample" in text and "x + y against x" in text
    assert PINNED.statement in text and "Bytes add." in text
    assert found.subjects == {"absorbs-pinned": 1, "commutes": 1}
    assert found.occurring == [Agreement.PROVED, Agreement.PINNED]


def test_every_link_of_the_page_names_something_of_it(decided: CheckReport) -> None:
    page = html.render(decided)
    places = set(re.findall(r'\bid="([^"]*)"', page))
    links = re.findall(r'href="#([^"]*)"', page)
    assert {outcome.obligation.id for outcome in decided.run.outcomes} <= places
    assert all(link in places or link.removeprefix("find=") in decided.subjects for link in links)


def test_a_long_counterexample_is_cut_on_the_page() -> None:
    outcome = next(
        o
        for o in reported(*runner.run(PASSING, runner.Settings(jobs=0))).run.outcomes
        if o.obligation is PINNED
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(check_report, "counterexample_text", lambda _: "\n".join(["x" * 500] * 50))
        lines = CheckReport.example(outcome).splitlines()
    assert len(lines) == check_report.LINES + 1 and "10 more lines" in lines[-1]
    assert max(map(len, lines)) == check_report.COLUMNS


def test_links_open_what_they_name_and_a_search_leaves_the_rest_out(
    browser: Browser, decided: CheckReport, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    page.write_text(html.render(decided), encoding="utf-8")
    browser.open(page, PINNED.id)
    opened = browser.dom
    assert re.search(r'<details class="theorem" id="power/toy/addition" open', opened)
    assert not re.search(r'<details class="theorem" id="power/toy/other" open', opened)
    browser.open(page, "find=ring")
    searched = browser.dom
    rows = re.findall(r'<tr id="([^"]*)"( hidden="")?', searched)
    assert [name for name, hidden in rows if not hidden] == [IN_RING.id]
    assert "1 obligation<" in searched
