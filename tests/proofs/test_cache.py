"""Properties of the cache: what it returns is what was decided, by the same solver and the same code."""

import json
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace

import pytest
import z3
from runner_obligations import CATALOGUE, obligations
from source_modules import modules

import mmaproof.proofs
from mmaproof.proofs import cache as cache_module
from mmaproof.proofs import code_state as code_state_module
from mmaproof.proofs.cache import FILE, Cache, Remembering, default_directory, fingerprint
from mmaproof.proofs.catalogue import select
from mmaproof.proofs.code_state import DECIDING
from mmaproof.proofs.obligation import Status
from mmaproof.proofs.remembered import remembered
from mmaproof.proofs.replay import Counterexample, Difference
from mmaproof.proofs.runner import Settings, run
from mmaproof.proofs.verdict import Verdict
from mmaproof.smt.solvers import Answer, Query
from mmaproof.spec.errors import InputError

PATTERN = "power/masking/disabled/pmxvf64ger*"


class Scripted:
    """A solver that answers what it was told to, and counts."""

    def __init__(self, name, *answers):
        self.name = name
        self.answers = list(answers)

    def check(self, query, timeout):
        return self.answers.pop(0)


def query(value):
    return Query((z3.BitVec("x", 8) == value,), trivial=False)


@pytest.fixture
def cache(tmp_path):
    with closing(Cache(tmp_path)) as opened:
        yield opened


@pytest.mark.parametrize("status", ["sat", "unsat"])
def test_a_definite_answer_is_asked_for_once(cache, status):
    model = {"x": 3, "|odd name": 1 << 63} if status == "sat" else {}
    solver = Remembering(Scripted("s 1", Answer(status, "s 1", model)), cache)
    first, second = solver.check(query(3), 1), solver.check(query(3), 1)
    assert (first.status, first.model, first.cached) == (status, model, False)
    assert (second.status, second.model, second.cached) == (status, model, True)
    assert second.solver == "s 1"


def test_unknown_is_never_kept(cache):
    solver = Remembering(Scripted("s 1", Answer("unknown", "s 1"), Answer("unsat", "s 1")), cache)
    assert [solver.check(query(3), 1).status for _ in range(3)] == ["unknown", "unsat", "unsat"]


def test_answers_belong_to_a_formula_and_a_version(cache):
    cache.keep_answer(query(3), Answer("unsat", "s 1"))
    assert cache.answer(query(3), "s 1").status == "unsat"
    assert cache.answer(query(3), "s 2") is None
    assert cache.answer(query(4), "s 1") is None


def test_verdicts_come_back_whole(cache):
    found = Counterexample("a/b", {"x": {"bits": ["0x1"]}}, Difference("x", (1, 2), "l", "r"))
    verdicts = [
        Verdict("a/b", Status.REFUTED, "s 1", message="m", counterexample=found),
        Verdict("a/c", Status.PROVED, "s 1"),
    ]
    for verdict in verdicts:
        cache.keep_verdict("state", verdict)
    kept = cache.verdicts("state")
    assert [kept[v.id].__dict__ | {"cached": False} for v in verdicts] == [v.__dict__ for v in verdicts]
    assert all(v.cached for v in kept.values())
    assert cache.verdicts("another state") == {}


@pytest.mark.parametrize("status", [Status.UNKNOWN, Status.ERROR])
def test_indefinite_verdicts_are_never_kept(cache, status):
    cache.keep_verdict("state", Verdict("a/b", status, "s 1"))
    assert cache.verdicts("state") == {}


def test_a_second_run_is_answered_from_the_first(tmp_path):
    chosen = select([PATTERN])
    settings = Settings(jobs=2, cache=tmp_path)
    first, second = run(chosen, settings), run(chosen, settings)
    assert [v.status for v in first] == [v.status for v in second] == [Status.PROVED] * len(chosen)
    assert [v.cached for v in first] == [False] * len(chosen)
    assert [v.cached for v in second] == [True] * len(chosen)


def test_a_fully_cached_run_needs_no_solver(tmp_path):
    run(select([PATTERN]), Settings(jobs=1, cache=tmp_path))
    program = f"""
import json, pathlib, sys
from mmaproof.proofs.catalogue import select
from mmaproof.proofs.code_state import DECIDING
from mmaproof.proofs.runner import Settings, run
verdicts = run(select([{PATTERN!r}]), Settings(cache=pathlib.Path({str(tmp_path)!r})))
print(json.dumps([[v.cached for v in verdicts], sorted({{"z3", "sympy"}} & set(sys.modules))]))
"""
    output = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    ).stdout
    cached, imported = json.loads(output)
    assert all(cached)
    assert imported == []


def test_verdicts_of_other_code_are_not_used(tmp_path, monkeypatch):
    settings = Settings(jobs=0, cache=tmp_path)
    (obligation,) = select(["power/masking/disabled/pmxvf64gerpp"])
    with closing(Cache(tmp_path)) as cache:
        cache.keep_verdict(fingerprint("z3"), Verdict(obligation.id, Status.PROVED, "planted"))
    assert run([obligation], settings)[0].solver == "planted"
    monkeypatch.setattr(code_state_module, "_dependencies", lambda: "others")
    assert run([obligation], settings)[0].status is Status.PROVED


def test_only_obligations_of_the_catalogue_have_kept_verdicts(tmp_path):
    chosen = [obligations()["test/base"], obligations()["test/false"]]
    settings = Settings(jobs=0, cache=tmp_path, catalogue=CATALOGUE)
    run(chosen, settings)
    with closing(Cache(tmp_path)) as cache:
        assert cache.verdicts(fingerprint("z3")) == {}
    assert all(v.cached for v in run(chosen[:1], settings))


def test_fingerprints_tell_solvers_and_sources_apart(tmp_path, monkeypatch):
    assert fingerprint("z3") == fingerprint("z3") != fingerprint("cvc5")
    for folder in ("spec", "smt", "proofs/power"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "proofs" / "cache.py").touch()
    monkeypatch.setattr(code_state_module, "__file__", str(tmp_path / "proofs" / "code_state.py"))
    seen = {fingerprint("z3")}
    for path, text in (
        ("spec/a.py", "1"),
        ("spec/a.py", "2"),
        ("smt/a.py", "1"),
        ("proofs/power/b.toml", ""),
    ):
        (tmp_path / path).write_text(text)
        seen.add(fingerprint("z3"))
    assert len(seen) == 5


def tampered(directory, statement, *parameters):
    with closing(sqlite3.connect(directory / FILE)) as connection, connection:
        return connection.execute(statement, parameters).rowcount


@pytest.mark.parametrize("value", ["{", "{}", "[]", "null", b"\xff\xfe", 7, '{"id": "a/b"}', ""])
@pytest.mark.parametrize("column", ["verdict", "digest", "id"])
def test_a_damaged_row_is_decided_anew(tmp_path, column, value):
    (obligation,) = select(["power/masking/disabled/pmxvf64gerpp"])
    settings = Settings(jobs=0, cache=tmp_path)
    with closing(Cache(tmp_path)) as cache:
        cache.keep_verdict(fingerprint("z3"), Verdict(obligation.id, Status.PROVED, "planted"))
    assert tampered(tmp_path, f"UPDATE verdicts SET {column} = ?", value) == 1
    (verdict,) = run([obligation], settings)
    assert (verdict.status, verdict.cached) == (Status.PROVED, False)
    assert verdict.solver != "planted"


@pytest.mark.parametrize(("column", "value"), [("status", "unsat"), ("model", "{"), ("model", '{"x": 3}')])
def test_a_tampered_answer_is_asked_for_again(cache, column, value):
    cache.keep_answer(query(3), Answer("sat", "s 1", {"x": 5}))
    assert tampered(cache.path.parent, f"UPDATE answers SET {column} = ?", value) == 1
    assert cache.answer(query(3), "s 1") is None


def test_a_verdict_moved_to_another_obligation_is_not_believed(cache):
    cache.keep_verdict("state", Verdict("a/b", Status.PROVED, "s 1"))
    tampered(cache.path.parent, "UPDATE verdicts SET id = 'a/c'")
    assert cache.verdicts("state") == {}


def planted(directory, obligation, found):
    """Keep a refutation that has every right digest."""
    with closing(Cache(directory)) as cache:
        cache.keep_verdict(
            fingerprint("z3"), Verdict(obligation.id, Status.REFUTED, "planted", counterexample=found)
        )
    (verdict,) = run([obligation], Settings(jobs=0, cache=directory))
    return verdict


def test_an_unexpected_refutation_from_the_cache_is_executed_again(tmp_path):
    refuted = next(o for o in select(["power"]) if o.expect is Status.REFUTED)
    (verdict,) = run([refuted], Settings(jobs=0))
    found = verdict.counterexample
    assert planted(tmp_path / "right", refuted, found).solver == "planted"
    for number, each in enumerate([None, replace(found, obligation="another/obligation")]):
        again = planted(tmp_path / str(number), refuted, each)
        assert (again.solver != "planted", again.status) == (True, Status.REFUTED)
    (proved,) = select(["power/masking/disabled/pmxvf64gerpp"])
    forged = Counterexample(proved.id, found.inputs, found.difference)
    assert planted(tmp_path / "forged", proved, forged).status is Status.PROVED


def test_a_kept_deduction_is_not_deduced_again_nor_its_premises_asked(tmp_path, monkeypatch):
    chosen = select(["power/state/aliasing"])
    settings = Settings(jobs=0, cache=tmp_path)
    (first,) = run(chosen, settings)
    decided = []
    monkeypatch.setattr("mmaproof.proofs.runner.decide_or_report", lambda *given: decided.append(given))
    monkeypatch.setattr("mmaproof.proofs.runner.decide_from_premises", lambda *given: decided.append(given))
    (second,) = run(chosen, settings)
    assert (first.status, second.status, second.cached, decided) == (*[Status.PROVED] * 2, True, [])


def test_what_is_kept_of_the_code_is_of_no_other_code(tmp_path, monkeypatch):
    build = lambda text: lambda: [text]  # noqa: E731
    assert remembered(tmp_path, "name", None) is None
    assert remembered(tmp_path, "name", build("first")) == ["first"]
    assert remembered(tmp_path, "name", build("second")) == remembered(tmp_path, "name", None) == ["first"]
    assert remembered(tmp_path, "another", build("second")) == ["second"]
    assert tampered(tmp_path, "UPDATE texts SET text = '[1]' WHERE name = 'name'") == 1
    assert remembered(tmp_path, "name", build("third")) == ["third"]
    monkeypatch.setattr(code_state_module, "_dependencies", lambda: "others")
    assert remembered(tmp_path, "name", None) is None
    (tmp_path / "file").touch()
    assert remembered(tmp_path / "file", "name", build("no cache")) == ["no cache"]


def test_the_versions_of_libraries_count(tmp_path, monkeypatch):
    before = fingerprint("z3")
    (tmp_path / "z3_solver-0.0.1.dist-info").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))
    assert before != fingerprint("z3")


def test_what_extends_the_packages_counts(tmp_path, monkeypatch):
    before = fingerprint("z3")
    monkeypatch.setattr(mmaproof.proofs, "__path__", [*mmaproof.proofs.__path__, str(tmp_path)])
    (tmp_path / "new.py").write_text("1")
    assert before != fingerprint("z3")


@pytest.mark.parametrize("content", [b"not a database, but long enough to be one" * 40, b"\0" * 5000])
def test_a_damaged_file_is_replaced(tmp_path, content):
    (tmp_path / FILE).write_bytes(content)
    with closing(Cache(tmp_path)) as cache:
        cache.keep_answer(query(3), Answer("unsat", "s 1"))
        assert cache.answer(query(3), "s 1").status == "unsat"


def test_a_file_damaged_in_use_is_a_miss(tmp_path):
    with closing(Cache(tmp_path)) as cache:
        for value in range(200):
            cache.keep_answer(query(value), Answer("unsat", "s 1", {}))
        cache._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        size = cache.path.stat().st_size
        with cache.path.open("r+b") as file:
            file.seek(4096)
            file.write(b"\xff" * (size - 4096))
        with closing(Cache(tmp_path)) as other:
            answers = [other.answer(query(value), "s 1") for value in range(200)]
            assert answers == [None] * 200
            other.keep_answer(query(3), Answer("unsat", "s 1"))
            assert other.answer(query(3), "s 1").status == "unsat"


def test_many_can_write_at_once(tmp_path):
    def work(number):
        with closing(Cache(tmp_path)) as cache:
            for i in range(20):
                cache.keep_verdict("state", Verdict(f"{number}/{i}", Status.PROVED, "s"))

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(work, range(8)))
    with closing(Cache(tmp_path)) as cache:
        assert len(cache.verdicts("state")) == 160


def test_old_entries_are_dropped(cache):
    for name, age in (("old", cache_module.LIFETIME_DAYS + 1), ("young", cache_module.LIFETIME_DAYS - 1)):
        cache.keep_verdict("state", Verdict(name, Status.PROVED, "s"))
        with closing(sqlite3.connect(cache.path)) as connection, connection:
            connection.execute("UPDATE verdicts SET created = created - ? WHERE id = ?", (age, name))
    cache.prune()
    assert set(cache.verdicts("state")) == {"young"}


def test_a_directory_that_can_not_be_used_is_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="set MMAPROOF_CACHE to another directory, or use --no-cache"):
        Cache(tmp_path / "file")


def test_the_environment_chooses_the_directory(tmp_path, monkeypatch):
    monkeypatch.setenv("MMAPROOF_CACHE", str(tmp_path))
    assert default_directory() == tmp_path
    monkeypatch.delenv("MMAPROOF_CACHE")
    assert "mmaproof" in default_directory().parts[-1].lower()


def test_what_obligations_are_made_of_is_in_the_fingerprint() -> None:
    """Every module that a module of `proofs` imports lies in a folder that the fingerprint is taken of."""
    imported = {
        found.target.removeprefix("mmaproof.").replace(".", "/")
        for module in modules()
        if module.layer == "proofs"
        for found in module.imports()
        if found.target.startswith("mmaproof.")
    }
    others = {
        target for target in imported if not f"{target}/".startswith(tuple(f"{each}/" for each in DECIDING))
    }
    assert others <= {"version"}
