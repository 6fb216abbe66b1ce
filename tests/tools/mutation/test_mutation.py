"""Mutation of the specification: which faults there are, what becomes of each, and that nothing is left."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
import toy_mutation_catalogue
import toy_specification

from mmaproof.proofs.runner import Settings
from tools.mutation import scope, score_json, tried_later
from tools.mutation.campaign import MEMORY, BaselineError, campaign
from tools.mutation.names import bound_at, readers
from tools.mutation.recorded_scores import record
from tools.mutation.scope import Role, SpecificationModule
from tools.mutation.score import Fate, Mutant, Score
from tools.mutation.source_faults import faults
from tools.mutation.survivor_tests import Ending
from tools.mutation.trial import Trial
from tools.mutation.trial_process import TrialProcesses

TOY = SpecificationModule(
    "toy_specification", Path(toy_specification.__file__), "toy_specification.py", "toy", Role.SEMANTICS
)
SETTINGS = Settings(jobs=2, catalogue=toy_mutation_catalogue.CATALOGUE)


def changes(text: str) -> set[tuple[str, str, str]]:
    return {(fault.kind, fault.old, fault.new) for fault in faults(text)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a + b", {("operator", "a + b", "a - b")}),
        ("a << b", {("operator", "a << b", "a >> b")}),
        ("a < b", {("comparison", "a < b", "a <= b"), ("comparison", "a < b", "a >= b")}),
        (
            "a and b",
            {
                ("operator", "a and b", "a or b"),
                ("deleted condition", "a and b", "a"),
                ("deleted condition", "a and b", "b"),
            },
        ),
        ("[x for x in y if z]", {("deleted condition", "z", "True")}),
        (
            "x = (A, B, C)",
            {
                *(("table entry", *p) for p in ("AB", "BC", "CA")),
                *(("deleted entry", "(A, B, C)", f"({p})") for p in ("B, C", "A, C", "A, B")),
            },
        ),
        (
            "x = {1: a, 2: b, 3: c}",
            {
                *(("table entry", *p) for p in ("12", "23", "31", "ab", "bc", "ca")),
                *(("constant", *p) for p in ("12", "10", "23", "21", "34", "32")),
                ("deleted entry", "{1: a, 2: b, 3: c}", "{2: b, 3: c}"),
                ("deleted entry", "{1: a, 2: b, 3: c}", "{1: a, 3: c}"),
                ("deleted entry", "{1: a, 2: b, 3: c}", "{1: a, 2: b}"),
            },
        ),
        ("f(x, y, key=z)", {("swapped arguments", "f(x, y, key=z)", "f(y, x, key=z)")}),
        (
            "def f(x: int, y: int, z: str): return g(x) + z",
            {
                ("operator", "g(x) + z", "g(x) - z"),
                ("swapped names", "x", "y"),
            },
        ),
        (
            "def f():\n    found[k] = v\n    if bad:\n        raise ValueError\n    yield v",
            {
                ("deleted statement", "found[k] = v", "pass"),
                ("deleted statement", "if bad:\n    raise ValueError", "pass"),
                ("deleted statement", "yield v", "pass"),
            },
        ),
        (
            "def f():\n    if good:\n        x = v\n    for x in y:\n        continue\n    x += v",
            {
                ("deleted statement", "if good:\n    x = v", "pass"),
                ("deleted condition", "good", "True"),
                ("deleted statement", "continue", "pass"),
                ("deleted statement", "x += v", "pass"),
            },
        ),
        ("not a", {("operator", "not a", "a")}),
        ("x = 8", {("constant", "8", "9"), ("constant", "8", "7")}),
        ("x = False", {("constant", "False", "True")}),
        ("x[a:]", {("index", "a", "a + 1")}),
        ("x[i, j]", {("table entry", "i", "j"), ("table entry", "j", "i")}),
        ("x = ('np', 6)", {("constant", "6", "7"), ("constant", "6", "5")}),
        ("x = ('s8', 'u8')", {("table entry", "'s8'", "'u8'"), ("table entry", "'u8'", "'s8'")}),
        (
            "x = {S8: a, U8: b}",
            {("table entry", *p) for p in (("S8", "U8"), ("U8", "S8"), ("a", "b"), ("b", "a"))},
        ),
    ],
)
def test_faults_change_one_expression(text: str, expected: set) -> None:
    assert changes(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        '"""A + b, 8 rows."""',
        "def f(x: Literal[8] = None) -> Literal[4]: 'Add 1.'",
        "raise ValueError(1 + 2)",
        "assert 1 < 2",
        "def unknown(x) -> InputError: return InputError(x + 1)",
        "def fail(x) -> NoReturn: stop(x + 1)",
        "zip(x, strict=True)",
        "def __repr__(self): return 1 + 2",
        "x: int",
        "f'{1 + 2}'",
        "Rule(reason=1 + 2)",
        "@cache(maxsize=8)\ndef f(): pass",
        "isinstance(x, Array | Format)",
        "min(x, y)",
        "blocks(x, _BLOCK * n // m)",
        "_BLOCK = 1 << 17",
        "_MIX = np.uint64(3)",
        "x = Callable[[Array, Format], None]",
        "a, b = b",
        "from a import b",
    ],
)
def test_what_only_speaks_has_no_fault(text: str) -> None:
    assert changes(text) == set()


def test_only_the_size_of_a_block_in_memory_is_for_speed() -> None:
    assert ("constant", "512", "513") in changes("GEMV_CHUNK_BYTES = 512")
    assert ("operator", "GEMV_CHUNK_BYTES // n", "GEMV_CHUNK_BYTES * n") in changes("GEMV_CHUNK_BYTES // n")
    assert changes("n * _BLOCK") and changes("_BLOCK + n")


def test_every_fault_of_the_specification_is_a_program_on_its_line() -> None:
    for module in scope.modules_of(["power"])[::6]:
        text = module.path.read_text(encoding="utf-8")
        for fault in faults(text)[::25]:
            ast.parse(fault.source())
            assert fault.source() != ast.unparse(ast.parse(text))
            assert 1 <= fault.line <= text.count("\n") + 1


def test_a_fault_without_an_effect_is_equivalent() -> None:
    (equal, _) = sorted(faults("def f(x):\n    return x\n    return 1"), key=lambda fault: fault.new)
    assert equal.is_equivalent()
    assert not faults("x = y + z")[0].is_equivalent()


def test_scope_has_the_instruction_set_and_what_belongs_to_none() -> None:
    modules = {module.shown: module for module in scope.modules_of(["power"])}
    assert {"spec/power/forms.py", "spec/formats.py", "spec/foreign_layouts/cute.py"} <= set(modules)
    assert not any(name.startswith(("spec/ptx/", "spec/pto/")) for name in modules)
    assert modules["spec/power/contradictions.py"].role is Role.PRESENTATION
    of_pto = {module.shown: module.role for module in scope.modules_of(["pto"])}
    assert of_pto["spec/pto/rules/moves.py"] is Role.LEGALITY
    assert of_pto["spec/pto/text/reader.py"] is Role.READING
    assert of_pto["spec/pto/text/wording.py"] is Role.PRESENTATION


def tried(number: int = 1000, seed: int = 0) -> Score:
    return campaign(list(toy_mutation_catalogue.obligations().values()), [TOY], number, seed, SETTINGS)


@pytest.fixture(scope="module")
def score() -> Score:
    return tried()


def test_a_trial_may_not_take_all_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    run, limits = TrialProcesses.run, set()

    def watched(self: TrialProcesses, trial: Trial, limit: float) -> dict:
        limits.add(trial.memory)
        return run(self, trial, limit)

    monkeypatch.setattr(TrialProcesses, "run", watched)
    tried(1)
    assert limits == {MEMORY}


@pytest.mark.parametrize("killed", ["getpid", "getppid"])
def test_a_trial_that_is_killed_is_no_error_of_the_fault(killed: str) -> None:
    known = {name: each.expect.value for name, each in toy_mutation_catalogue.obligations().items()}
    source = f"import os\nos.kill(os.{killed}(), 9)\n{TOY.path.read_text(encoding='utf-8')}".replace(
        "from __future__ import annotations\n", ""
    )
    trial = Trial(
        list(sys.path),
        SETTINGS.assignment.catalogue,
        [*known],
        known,
        "z3",
        5.0,
        module=TOY.name,
        source=source,
    )
    with TrialProcesses() as processes:
        assert processes.run(trial, 60)["outcome"] == "timeout"


def outcomes(score: Score) -> dict[tuple[int, str], Fate]:
    return {(result.mutant.fault.line, result.mutant.fault.new): result.outcome for result in score.results}


def test_a_fault_that_a_theorem_sees_is_refuted_and_the_theorem_named(score: Score) -> None:
    (found,) = (result for result in score.results if result.mutant.fault.new == "x - y")
    assert (found.outcome, found.obligation) == (Fate.REFUTED, "toy/arithmetic/sum/adds")
    assert found.message == "wrong for 0"


def test_survivors_have_their_line_and_the_reason(score: Score) -> None:
    survivors = {r.mutant.fault.new: r for r in score.results if r.outcome is Fate.SURVIVED}
    lines = Path(toy_specification.__file__).read_text().splitlines()
    assert {"x + 3", "x // 3", "2", "4", "6", "8", "x <= 1000", "999", "1001"} <= set(survivors)
    for new, result in survivors.items():
        file, _, line = result.mutant.place.partition(":")
        assert file == "toy_specification.py" and result.mutant.fault.old in lines[int(line) - 1], new
    assert survivors["x + 3"].message == "no obligation enters the statement"
    assert survivors["x <= 1000"].message == ""


def test_the_score_counts_what_was_refuted_or_in_error(score: Score) -> None:
    assert score.count(*Fate) == len(score.results) == score.candidates - len(score.equivalent)
    assert score.noticed == score.count(Fate.REFUTED, Fate.ERROR) / len(score.results)
    assert 0 < score.noticed < 1


def test_a_seed_draws_the_same_faults(score: Score) -> None:
    first, again, other = (tried(4, seed) for seed in (5, 5, 6))
    assert outcomes(first) == outcomes(again) != outcomes(other)
    assert len(first.results) == 4
    assert outcomes(first).items() <= outcomes(score).items()


def test_nothing_is_written_beside_the_source(score: Score) -> None:
    del score
    source = Path(toy_specification.__file__)
    assert "x + y" in source.read_text()
    program = "import toy_specification as toy; print(toy.total(200, 100), toy.half_seen(5), toy.unseen(2))"
    printed = subprocess.run(
        [sys.executable, "-c", program], cwd=source.parent, capture_output=True, text=True, check=True
    )
    assert printed.stdout == "44 5 6\n"


def test_without_a_fault_everything_must_be_as_expected(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(jobs=1, catalogue="runner_obligations:obligations")
    chosen = [settings.assignment.obligations()["test/raises"]]
    with pytest.raises(
        BaselineError, match="test/raises is error without a fault: RuntimeError: of two lines"
    ):
        campaign(chosen, [TOY], 1, 0, settings)


def test_an_obligation_depends_on_what_a_cached_value_was_computed_from(tmp_path: Path) -> None:
    path = tmp_path / "remembered.py"
    path.write_text(
        "from functools import cache, cached_property\n"
        "def inner(): return 1\n"
        "@cache\n"
        "def outer(): return inner()\n"
        "class Holder:\n"
        "    @cached_property\n"
        "    def value(self): return inner()\n"
        "HELD = Holder()\n"
        "def unused(): return 2\n"
        "AT_IMPORT = unused()\n"
        "def branches(x):\n"
        "    '''Documented.'''\n"
        "    if x:\n"
        "        return 1\n"
        "    for y in [x]:\n"
        "        y += 1\n"
        "    return 2\n"
    )
    program = (
        "import sys\n"
        "from tools.mutation.dependencies import Recorder\n"
        f"recorder = Recorder(frozenset([{str(path)!r}]))\n"
        "recorder.start()\n"
        f"sys.path.insert(0, {str(tmp_path)!r})\n"
        "import remembered\n"
        "print(sorted(line for _, line in recorder.shared))\n"
        "both = lambda: remembered.branches(True), lambda: remembered.branches(False)\n"
        "assert remembered.branches.__doc__ == 'Documented.'\n"
        "for call in (remembered.outer, lambda: remembered.HELD.value) * 2 + both:\n"
        "    with recorder.recording() as entered: call()\n"
        "    print(sorted(line for _, line in entered))\n"
    )
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    remembered = ["[2, 3, 4]", "[2, 6, 7]"]
    entered = [*remembered * 2, "[11, 12, 14]", "[11, 12, 15, 16, 17]"]
    assert printed.stdout.splitlines() == ["[1, 9]", *entered]


def test_a_fault_is_in_the_innermost_block_of_its_line() -> None:
    text = "def f(x):\n    if x < 1:\n        y = 2\n        return y\n    z = 3\n"
    text += "    return [\n        4\n    ]\nW = 5"
    blocks = {"x < 1": 2, "1": 2, "2": 3, "3": 5, "4": 5, "5": 0}
    blocks["if x < 1:\n    y = 2\n    return y"] = 2
    assert {fault.old: fault.block for fault in faults(text)} == blocks


def test_readers_of_a_name_are_functions_and_statements_of_modules() -> None:
    sources = {
        "a": "X = 1\nY = X\ndef f(): return X\nclass C:\n    @deco\n    def g(self): return self.X",
        "b": "from a import X as other\ndef h(): return a.X",
    }
    assert readers(sources)["X"] == {("a", 0, 2), ("a", 3, 3), ("a", 5, 4), ("b", 0, 1), ("b", 2, 2)}
    module = ast.parse(sources["a"])
    assert [bound_at(module, line) for line in (1, 3, 6)] == [(1, {"X"}), (3, {"f"}), (4, {"C"})]


def test_a_deduction_may_have_premises_of_another_instruction_set() -> None:
    settings = Settings(jobs=1, catalogue="toy_mutation_catalogue:with_a_premise_elsewhere")
    catalogue = toy_mutation_catalogue.with_a_premise_elsewhere()
    chosen = [each for name, each in catalogue.items() if name.startswith("toy/")]
    score = campaign(chosen, [TOY], 4, 0, settings)
    assert score.obligations == 3 and len(score.results) == 4


def test_what_a_module_is_about_splits_the_score(score: Score) -> None:
    assert score.of(Role.SEMANTICS).results == score.specifying.results == score.results
    assert not score.of(Role.PRESENTATION).results


def test_survivors_are_tried_on_tests_later(score: Score, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tried_later, "modules_of", lambda _: [TOY])
    document = score_json.document(score, "1.2.3", 0, ["toy"])
    asked = []

    def ending(mutant: Mutant) -> Ending:
        asked.append(mutant)
        return Ending("test_it" if len(asked) > 1 else "", "ran")

    tried_later.try_later(document, ending)
    unnoticed = [result.mutant for result in score.results if result.outcome is Fate.SURVIVED]
    assert [(m.fault.line, m.fault.column, m.fault.new) for m in asked] == [
        (m.fault.line, m.fault.column, m.fault.new) for m in unnoticed
    ]
    assert document["summary"]["by_tests"] == document["roles"]["semantics"]["by_tests"] == len(asked) - 1
    assert document["summary"]["together"] == pytest.approx(1 - 1 / len(score.results), abs=1e-4)
    asked = [None]
    tried_later.try_later(document, ending)  # what a test notices is not tried again
    assert len(asked) == 2 and document["summary"]["together"] == 1


def test_what_is_recorded_of_a_campaign_has_no_date_and_keeps_reasons(score: Score) -> None:
    document = score_json.document(score, "1.2.3", 0, ["toy"])
    entry = record(document, {})
    assert entry["command"] == f"mmaproof check --mutants {len(score.results)} --seed 0 toy"
    assert entry["whole"]["survived"] == score.count(Fate.SURVIVED) == len(entry["unnoticed"])
    assert "seconds" not in str(entry) and "elapsed" not in str(entry)
    entry["unnoticed"][0]["reason"] = "equivalent: nothing sees it"
    assert record(document, entry) == entry
    later = record(score_json.document(score, "1.2.3", 1, ["toy"]), entry)
    assert later["earlier"] == [{"command": entry["command"], "whole": entry["whole"], "equivalent": 1}]
    assert record(score_json.document(score, "1.2.3", 1, ["toy"]), later) == later
