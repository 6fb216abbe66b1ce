"""Lock files, accepted differences, what a table misses, and several tables at once."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import pytest
from example_counts import examples
from gate_tables import EXAMPLES, TODAY, compared, csv_table, json_table, rules
from hypothesis import given
from hypothesis import settings as tries
from hypothesis import strategies as st

from mmaproof.gating.completeness import missing
from mmaproof.gating.documents import read_document
from mmaproof.gating.locks import compare_lock
from mmaproof.gating.row_reading import read_rows
from mmaproof.gating.rows import Defaults
from mmaproof.gating.settings import GateSettings, GivenTable, settings
from mmaproof.gating.vocabulary import vocabulary
from mmaproof.reports import gate_report
from mmaproof.reports.report import Conclusion
from mmaproof.spec.errors import InputError
from mmaproof.spec.findings import Finding, Standing
from mmaproof.spec.instruction_set import NAMES, instruction_set

DRIFTING = {"shape": "m16n8k16", "a": "f16", "target": "sm_75"}
ID = "ptx/target: m16n8k16 a=f16 on sm_75"


def locked(isa: str, name: str) -> dict[str, Any]:
    return {"schema": 1, "isa": isa, "table": name, "rows": instruction_set(isa).tables[name]()}


def lock_findings(folder: Path, document: dict[str, Any]) -> list[Finding]:
    path = folder / "lock.json"
    path.write_text(json.dumps(document, indent=1), encoding="utf-8")
    return list(compare_lock(read_document(path)).findings)


@pytest.mark.parametrize(
    ("isa", "name"), [(isa, name) for isa in NAMES for name in instruction_set(isa).tables]
)
def test_a_lock_of_today_agrees_in_any_order(tmp_path: Path, isa: str, name: str) -> None:
    document = locked(isa, name)
    assert lock_findings(tmp_path, document) == []
    document["rows"].reverse()
    assert lock_findings(tmp_path, document) == []


@given(st.data())
@tries(max_examples=examples(40), deadline=None)
def test_every_changed_cell_of_a_lock_is_named(tmp_path_factory, data) -> None:
    document = locked("ptx", "instructions")
    row = data.draw(st.sampled_from(document["rows"]))
    title = data.draw(st.sampled_from(sorted(set(row) - {"source", "instruction"})))
    before, row[title] = row[title], "frob"
    (finding,) = lock_findings(tmp_path_factory.mktemp("lock"), document)
    assert (finding.they_say, finding.spec_says) == ("'frob'", repr(before))
    assert finding.subject.endswith(f", {title}") and finding.line > 1


def test_removed_and_new_rows_of_a_lock(tmp_path: Path) -> None:
    document = locked("power", "instructions")
    gone = document["rows"].pop(3)
    document["rows"].append({"mnemonic": "xvi2ger16", "k": "16"})
    assert [(f.causes[0].rule, f.subject, bool(f.line)) for f in lock_findings(tmp_path, document)] == [
        ("lock-removed", "power instructions: xvi2ger16", True),
        ("lock-added", f"power instructions: {gone['mnemonic']}", False),
    ]


def test_another_wording_of_the_source_is_no_drift(tmp_path: Path) -> None:
    document = locked("ptx", "rules")
    document["rows"][0]["source"] = "somewhere else"
    assert lock_findings(tmp_path, document) == []


@pytest.mark.parametrize(
    "change", [{"schema": 2}, {"isa": "vax"}, {"table": "frob"}, {"rows": [{"rule": 1}]}]
)
def test_a_lock_that_is_none(tmp_path: Path, change: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"lock\.json:\d"):
        lock_findings(tmp_path, {**locked("ptx", "rules"), **change})


def test_a_column_that_the_table_has_not_is_drift_of_a_lock(tmp_path: Path) -> None:
    document = locked("ptx", "instructions")
    for row in document["rows"][3:5]:
        row["frob"] = "17"
    (finding,) = lock_findings(tmp_path, document)
    assert (rules([finding]), finding.standing) == (["gate/lock-column"], Standing.DRIFT)
    assert "'frob'; 2 locked rows" in finding.causes[0].message and finding.line > 1


def test_a_column_that_a_lock_has_not_is_a_warning(tmp_path: Path) -> None:
    document = locked("ptx", "instructions")
    title = next(title for title in document["rows"][0] if title not in ("source", "instruction"))
    for row in document["rows"]:
        row.pop(title, None)
    (finding,) = lock_findings(tmp_path, document)
    assert (rules([finding]), finding.standing) == (["gate/lock-column"], Standing.WARNING)


def test_what_a_table_without_targets_misses_is_said_with_the_targets_that_have_it(tmp_path: Path) -> None:
    table = json_table(tmp_path, {"instruction": "mma", "kind": "mxf4"})
    found = {
        finding.subject: finding.causes[0].message for finding in compared(table, complete=True).findings
    }
    message = found["mma kind=mxf4nvf4"]
    assert message.endswith("it is legal on sm_120a, sm_120f, sm_121a, sm_121f (PTX 9.1)")
    assert "sm_70" in found["mma"]


def allowed(folder: Path, *entries: str) -> tuple[list[Standing], list[str]]:
    """Compare one row that drifts, with a file of accepted differences."""
    allow = folder / "accepted.toml"
    allow.write_text("\n".join(f"[[allow]]\n{entry}\n" for entry in entries), encoding="utf-8")
    table = GivenTable(json_table(folder, {**DRIFTING, "target": "sm_80"}, DRIFTING))
    report = gate_report.report(GateSettings((table,), allow), "1.2.3", TODAY)
    findings = list(report.findings)
    return [finding.standing for finding in findings], rules(findings)


ACCEPTED, DRIFT = Standing.ACCEPTED, Standing.DRIFT
ALLOWED = f'finding = "{ID}"\nreason = "emulated"\nexpires = {TODAY}'


@pytest.mark.parametrize(
    ("entries", "standings", "last"),
    [
        ([ALLOWED], [ACCEPTED], "ptx/target"),
        ([ALLOWED.replace("m16n8k16 a=f16", "*")], [ACCEPTED], "ptx/target"),
        ([ALLOWED + '\nfile = "table.json"'], [ACCEPTED], "ptx/target"),
        ([ALLOWED + '\nfile = "*.csv"'], [DRIFT, DRIFT], "gate/allowance-unused"),
        ([ALLOWED, ALLOWED.replace("sm_75", "sm_70")], [ACCEPTED, DRIFT], "gate/allowance-unused"),
        ([ALLOWED.replace("06-15", "06-14")], [DRIFT, DRIFT], "gate/allowance-expired"),
        ([ALLOWED.replace("06-15", "06-14"), ALLOWED], [ACCEPTED, DRIFT], "gate/allowance-expired"),
        ([], [DRIFT], "ptx/target"),
    ],
)
def test_accepted_differences(
    tmp_path: Path, entries: list[str], standings: list[Standing], last: str
) -> None:
    found, cited = allowed(tmp_path, *entries)
    assert found == standings
    assert cited[-1] == last


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ('finding = "x"\nreason = "y"', "needs 'expires'"),
        ('finding = "x"\nexpires = 2099-01-01', "needs 'reason'"),
        ('finding = "x"\nreason = " "\nexpires = 2099-01-01', "'reason' must be a non-empty string"),
        ('finding = "x"\nreason = "y"\nexpires = "soon"', "must be a date"),
        ('finding = "x"\nreason = "y"\nexpires = 2099', "must be a date"),
        ('finding = 1\nreason = "y"\nexpires = 2099-01-01', "'finding' must be"),
        ('frob = "x"', "unknown key 'frob'"),
        ("finding = ", r"accepted.toml:7: column 11: "),
    ],
)
def test_an_accepted_difference_has_a_reason_and_a_date(tmp_path: Path, entry: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as raised:
        allowed(tmp_path, ALLOWED, entry)
    assert "accepted.toml" in str(raised.value)
    assert "column" in message or "accepted.toml:6" in str(raised.value)


def test_an_accepted_difference_is_no_drift(tmp_path: Path) -> None:
    allow = tmp_path / "accepted.toml"
    allow.write_text(f"[[allow]]\n{ALLOWED}\n", encoding="utf-8")
    report = gate_report.report(
        GateSettings((GivenTable(json_table(tmp_path, DRIFTING)),), allow), "1.2.3", TODAY
    )
    assert report.conclusion is Conclusion.HOLDS
    assert next(report.findings).accepted_because == "emulated"


def missed(folder: Path, text: str) -> list[str]:
    document = read_document(csv_table(folder, text))
    rows = list(read_rows(document, Defaults()))
    return [finding.subject for finding in missing(rows, "table.csv")]  # type: ignore[arg-type]


def test_a_table_of_every_legal_instruction_misses_nothing_and_a_forgotten_one_is_named(
    tmp_path: Path,
) -> None:
    words = vocabulary("ptx")
    texts = [p.text for p in words.points if not words.isa.read(p.text).legal("sm_80", "7.1").violations]
    lines = [f"{text},sm_80,7.1" for text in texts]
    assert missed(tmp_path, "\n".join(["instr,target,ptx", *lines])) == []
    forgotten = lines.pop(37).partition(",")[0]
    assert missed(tmp_path, "\n".join(["instr,target,ptx", *lines])) == [forgotten]


def test_forms_are_told_apart_by_the_columns_of_the_table(tmp_path: Path) -> None:
    rest = "m16n8k4|m16n8k8,tf32\nm8n8k4,f64\n*,s?\n*,u?\n*,b1\n*,bf16\nm8n8k4|m16n8k8,f16\n"
    assert missed(tmp_path, f"shape,a,target\n{rest.replace(chr(10), ',sm_80' + chr(10))}") == [
        "mma shape=m16n8k16 a=f16"
    ]


def test_a_target_is_complete_in_its_newest_version(tmp_path: Path) -> None:
    table = "shape,a,target,ptx\n*,e?m?,sm_89,{}\n*,[fst]*,sm_89,8.4\n*,[!efst]*,sm_89,8.4\n"
    assert missed(tmp_path, table.format("8.4")) == missed(tmp_path, table.format("8.7")) == []


def test_a_row_about_everything_misses_nothing(tmp_path: Path) -> None:
    assert missed(tmp_path, "instruction,target,legal\nmma,sm_80,yes\n") == []


def test_settings_name_tables_relative_to_their_file(tmp_path: Path) -> None:
    folder = tmp_path / "deeper"
    folder.mkdir()
    csv_table(folder, "Arch,shape,a\n75,m16n8k16,f16\n")
    toml = tmp_path / "mmaproof.toml"
    toml.write_text(
        '[gate]\nallow-undecided = true\n[[gate.table]]\nfile = "deeper/*.csv"\n'
        'columns = {Arch = "target"}\n',
        encoding="utf-8",
    )
    chosen = settings([toml], Defaults(), complete=False)
    assert chosen.allow_undecided
    report = gate_report.report(chosen, "1.2.3", TODAY)
    assert [(Path(f.file).name, f.line) for f in report.findings] == [("table.csv", 2)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"it has no \[gate\], which names tables"),
        ("[gate]\n", "it names no table"),
        ("[gate]\nfrob = 1\n", "has no 'frob'"),
        ("[gate]\ncomplete = 1\n[[gate.table]]\nfile = 'x'\n", "'complete' is true or false"),
        ("[[gate.table]]\ntarget = 'x'\n", "names a file"),
        ("[[gate.table]]\nfile = '*.csv'\n", "no file is called"),
        ("[[gate.table]]\nfile = 'x'\nfrob = 'x'\n", "unknown column 'frob'"),
        ("[[gate.table]]\nfile = 'x'\ncolumns = {a = 'frob'}\n", "unknown column 'frob'"),
        ("[[gate.table]]\nfile = 'x'\ncolumns = 1\n", "'columns' is a table"),
        ("[gate", "is no TOML"),
        ("[gate]\nx = = 1\n", r"mmaproof.toml:2: column 5: "),
    ],
)
def test_settings_that_are_wrong(tmp_path: Path, text: str, message: str) -> None:
    toml = tmp_path / "mmaproof.toml"
    toml.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message) as raised:
        settings([toml], Defaults(), complete=False)
    assert "mmaproof.toml" in str(raised.value)


EXPECTED = {
    "mma_verifier.csv": [],
    "mma_verifier_wrong.csv": [
        "ptx/multiplicand-types", "ptx/multiplicand-types", "ptx/target", "ptx/target"
    ],
    "dsl_targets.json": [],
    "dsl_targets_wrong.json": [
        "ptx/target", "ptx/ptx-version", "gate/allowed", "ptx/target", "ptx/count", "gate/undecided"
    ],
    "power_mma.csv": [],
    "pto_products.csv": [],
    "int8_shapes.csv": [],
    "cute_traits.json": [],
    "cute_traits_wrong.json": [
        "layout/collision", "layout/incongruent", "layout/other-bijection", "layout/other-bijection",
        "layout/out-of-range", "layout/wrong-size",
    ],
    "linear_layouts.json": [],
    "linear_layouts_wrong.json": [
        "layout/other-bijection", "layout/collision", "layout/out-of-range", "layout/other-bijection"
    ],
    "shared_memory_loads.json": [],
    "shared_memory_loads_wrong.json": [
        "layout/out-of-range", "layout/other-bijection", "layout/undeliverable", "layout/undeliverable"
    ],
}  # fmt: skip


@pytest.mark.parametrize(("name", "cited"), EXPECTED.items(), ids=EXPECTED)
def test_examples_pass_or_are_named_for_their_reason(name: str, cited: list[str]) -> None:
    assert rules(list(compared(EXAMPLES / name).findings)) == cited


def test_the_example_that_forgets_a_shape() -> None:
    report = compared(EXAMPLES / "int8_shapes.csv", complete=True)
    assert {f.subject.partition(" a=")[0] for f in report.findings} == {"mma shape=m8n8k16"}


def test_the_example_settings_hold() -> None:
    chosen = settings([EXAMPLES / "mmaproof.toml"], Defaults(), complete=False)
    assert gate_report.report(chosen, "1.2.3", datetime.date(2026, 1, 1)).conclusion is Conclusion.HOLDS
