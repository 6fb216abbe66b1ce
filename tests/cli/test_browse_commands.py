"""``mmaproof list``, ``explain`` and ``export``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import z3
from command_line import mmaproof
from document_schemas import validate
from toy_theorems import COMMUTES, ENUMERATED, FALSE, IN_RING, INDUCTIVE, PINNED

from mmaproof.proofs import catalogue, export
from mmaproof.proofs.recorded_methods import recorded_method
from mmaproof.proofs.verdict import meaning
from mmaproof.spec.errors import UnsupportedError
from mmaproof.spec.instruction_set import instruction_set
from mmaproof.spec.power.catalogue import UPDATES
from mmaproof.spec.power.forms import FORMS
from mmaproof.spec.power.formula import formula
from mmaproof.spec.pto.catalogue import OPERATIONS
from mmaproof.spec.ptx.catalogue import ALL_FORMS

MFMA = [row["mnemonic"] for row in instruction_set("mfma").instructions()]
REAL = "power/masking/disabled/pmxvi8ger4pp"

PTX_VARIANTS = [str(variant) for form in ALL_FORMS for variant in form.variants()]


def listed(*patterns: str) -> dict[str, list[str]]:
    result = mmaproof("list", *patterns, "--json")
    assert result.status == 0
    document = json.loads(result.out)
    validate("list", document)
    return {
        "obligations": [o["id"] for o in document["obligations"]],
        "instructions": [i["mnemonic"] for i in document["instructions"]],
    }


def test_everything_is_listed_by_default_and_for_the_isa() -> None:
    everything = {
        "obligations": list(catalogue.obligations()),
        "instructions": [*FORMS, *PTX_VARIANTS, *OPERATIONS, *MFMA],
    }
    assert listed() == everything
    of_power = [o for o in catalogue.obligations() if o.startswith("power/")]
    assert listed("power") == {"obligations": of_power, "instructions": list(FORMS)}


def test_patterns_are_prefixes_and_globs_of_ids_and_mnemonics() -> None:
    assert listed("power/masking/disabled/pmxvf32ger*n")["obligations"] == [
        o
        for o in catalogue.obligations()
        if o.startswith("power/masking/disabled/pmxvf32ger") and o[-1] == "n"
    ]
    assert listed("xvf64") == {
        "obligations": [],
        "instructions": [m for m in UPDATES if m.startswith("xvf64")],
    }
    assert set(listed("lxv", REAL)["instructions"]) == {"lxv", "lxvp", "lxvx", "lxvpx"}


def test_plain_lines_have_what_the_json_has() -> None:
    lines = mmaproof("list").out.splitlines()
    first_words = {line.split()[0] for line in lines if line}
    instructions = {*FORMS, *PTX_VARIANTS, *OPERATIONS, *MFMA}
    assert first_words == {"obligation", "mnemonic", *catalogue.obligations(), *instructions}
    obligation = catalogue.obligations()[REAL]
    (line,) = [line for line in lines if line.split() and line.split()[0] == REAL]
    shown = [REAL, obligation.expect, obligation.equality, *recorded_method(REAL).split(), obligation.choices]
    assert line.split() == shown


def test_an_obligation_is_explained() -> None:
    obligation = catalogue.obligations()[REAL]
    text = mmaproof("explain", REAL).out
    for part in (
        REAL, obligation.statement, obligation.equality.meaning, meaning(recorded_method(REAL)),
        obligation.choices, obligation.source, "x: s8[4, 4]", "pmsk: u4",
    ):  # fmt: skip
        assert part in text


def test_every_theorem_is_explained_by_id_and_by_unique_prefix() -> None:
    identifiers = [theorem.id for theorem in catalogue.theorems()]
    for theorem in catalogue.theorems():
        text = mmaproof("explain", theorem.id).out
        assert theorem.statement.splitlines()[0] in text and theorem.source in text
        if sum(i.startswith(theorem.id[:-1]) for i in identifiers) == 1:
            assert mmaproof("explain", theorem.id[:-1]).out == text


@pytest.mark.parametrize("mnemonic", FORMS)
def test_every_instruction_is_explained(mnemonic: str) -> None:
    result = mmaproof("explain", mnemonic)
    assert result.status == 0
    assert FORMS[mnemonic].syntax in result.out and "vsr-overlap" in result.out
    word = mnemonic.removeprefix("pm")
    if word in UPDATES:
        assert formula(UPDATES[word], masked=word != mnemonic) in result.out


def test_an_instruction_is_explained_by_its_text_and_alias() -> None:
    text = mmaproof("explain", "xvf32gerpp").out
    assert mmaproof("explain", "xvf32gerpp a0,vs34,vs35").out == text
    assert mmaproof("explain", "dmxvf32gerpp").out == text


def satisfiable(text: str) -> bool:
    solver = z3.Solver()
    solver.from_string(text)
    return solver.check() == z3.sat


def test_exported_scripts_say_what_the_claim_says(tmp_path: Path) -> None:
    result = mmaproof("export", REAL, "--out", tmp_path / "smt")
    assert result.status == 0
    paths = [Path(line) for line in result.out.splitlines()]
    folder = tmp_path / "smt" / "power/masking/disabled"
    assert paths == [folder / f"pmxvi8ger4pp.{encoding}.smt2" for encoding in ("uninterpreted", "exact")]
    assert sorted(paths) == sorted(p for p in tmp_path.rglob("*") if p.is_file())
    for path in paths:
        text = path.read_text()
        assert text.count("(check-sat)") == 1 and "(set-logic" in text
        assert not satisfiable(text)


@pytest.mark.parametrize(
    ("obligation", "refuted"), [(COMMUTES, False), (ENUMERATED, False), (FALSE, True), (PINNED, True)]
)
def test_a_script_is_satisfiable_exactly_if_the_claim_fails(obligation, refuted: bool) -> None:
    assert satisfiable(export.scripts(obligation)["exact"]) is refuted


@pytest.mark.parametrize("obligation", [IN_RING, INDUCTIVE])
def test_what_no_solver_decides_is_not_exported(obligation) -> None:
    with pytest.raises(UnsupportedError, match="is decided without a solver"):
        export.scripts(obligation)


def test_obligations_without_a_query_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mmaproof.proofs.catalogue.select", lambda patterns: [COMMUTES, INDUCTIVE])
    result = mmaproof("export", "power/toy", "--out", tmp_path / "smt")
    assert result.status == 0
    assert result.err == f"mmaproof: not exported: {INDUCTIVE.id} is decided without a solver (argument)\n"
    assert COMMUTES.id in result.out
    monkeypatch.setattr("mmaproof.proofs.catalogue.select", lambda patterns: [INDUCTIVE, IN_RING])
    result = mmaproof("export", "power/toy/other", "--out", tmp_path / "none")
    assert result.wrong_use and "nothing to export" in result.err
    assert not (tmp_path / "none").exists()
