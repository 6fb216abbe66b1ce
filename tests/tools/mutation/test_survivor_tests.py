"""Tests of what the catalogue does not notice: what tests execute, which are run, and what they say."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.mutation.chosen_tests import BATCHES, batches
from tools.mutation.recorded_tests import RecordedTest, RecordingError, place_names
from tools.mutation.scope import Role, SpecificationModule
from tools.mutation.source_faults import faults
from tools.mutation.survivor_tests import Ending, SurvivorTests

SUMS = """\
from functools import cache
LIMIT = 7
class Row:
    width: int = 50
def at_import(x):
    return x * 11
EDGE = at_import(LIMIT)
@cache
def remembered():
    return total(20, 1)
def total(x, y):
    if x > 100:
        return x - y * 2
    return x + y
def unseen(x):
    return x ^ 3
"""
FILES = {
    "pytest.ini": (
        "[pytest]\npythonpath = checks\naddopts = --import-mode=importlib\nfilterwarnings = error\n"
    ),
    "installed/fragile/__init__.py": "",
    "installed/fragile/sums/__init__.py": "",
    "installed/fragile/sums/total.py": SUMS,
    "installed/fragile/sums/last.py": (
        "from . import total as t\n"
        "def late(): return t.total(1, 2)\n"
        "def wide(): return t.Row.width\n"
        "def edge(): return t.EDGE\n"
    ),
    "checks/test_alone.py": "def test_nothing(): pass\n",
    "checks/test_far.py": (
        "import pytest\nfrom fragile.sums import total as t\nfrom fragile.sums.last import edge, wide\n"
        "EARLY = [t.total(200, 1)]\n"
        "@pytest.mark.parametrize('x', EARLY)\ndef test_early(x): assert x == 198\n"
        "def test_wide(): assert wide() == 50\n"
        "def test_edge(): assert edge() == 77\n"
    ),
    "checks/sums/test_remembered.py": (
        "from fragile.sums.total import LIMIT, remembered\n"
        "def test_first(): assert remembered() == 21\n"
        "def test_again(): assert remembered() == 21\n"
        "def test_limit(): assert LIMIT == 7\n"
    ),
    "checks/sums/test_total.py": (
        "import os, subprocess, sys\nfrom fragile.sums.total import total\n"
        "def test_broken(): assert total(0, 0)\n"
        "def test_elsewhere():\n"
        "    program = 'from fragile.sums.total import total; assert total(101, 1) == 99'\n"
        "    subprocess.run([sys.executable, '-c', program], check=True)\n"
        "def test_forked():\n"
        "    child = os.fork()\n"
        "    if not child: os._exit(total(1, 2) != 3)\n"
        "    assert os.waitpid(child, 0)[1] == 0\n"
    ),
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fragile")
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def module_of(project: Path) -> SpecificationModule:
    path = project / "installed/fragile/sums/total.py"
    return SpecificationModule("fragile.sums.total", path, "sums/total.py", "", Role.SEMANTICS)


@pytest.fixture(autouse=True)
def installed(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(project / "installed"))
    monkeypatch.setenv("MMAPROOF_CACHE", str(project / "cache"))


@pytest.fixture
def tests(project: Path, installed: None) -> SurvivorTests:
    found = SurvivorTests([project / "checks"], module_of(project))
    found.record()
    return found


def chosen(tests: SurvivorTests, project: Path, new: str) -> list[str]:
    (fault,) = (fault for fault in faults(SUMS) if fault.new == new)
    return [test.name.rpartition("::")[2] for test in tests._chosen.of(module_of(project).path, fault)]


def noticed(tests: SurvivorTests, project: Path, new: str) -> Ending:
    (fault,) = (fault for fault in faults(SUMS) if fault.new == new)
    with tests:
        return tests.of(module_of(project), fault)


def test_it_is_recorded_once_what_tests_execute(tests: SurvivorTests, project: Path) -> None:
    assert tests.unrecorded() == 0
    changed = project / "checks/test_alone.py"
    changed.write_text(FILES["checks/test_alone.py"] + "\n")
    again = SurvivorTests([project / "checks"], module_of(project))
    changed.write_text(FILES["checks/test_alone.py"])
    assert again.unrecorded() == 1


def test_chosen_are_the_tests_that_execute_a_block(tests: SurvivorTests, project: Path) -> None:
    """In the test, when its file is read, through what is remembered, and in other processes."""
    assert set(chosen(tests, project, "x - y")) == {"test_first", "test_again", "test_forked"}
    assert set(chosen(tests, project, "x + y * 2")) == {"test_early[198]", "test_elsewhere"} | {
        "test_edge", "test_wide"
    }  # fmt: skip
    assert chosen(tests, project, "x & 3") == []


def test_of_what_is_executed_at_import_those_come_first_that_read_what_it_binds(
    tests: SurvivorTests, project: Path
) -> None:
    assert "test_wide" in chosen(tests, project, "51")[:1]  # a field of a class
    assert "test_limit" in chosen(tests, project, "8")[:3]  # the file of the test reads it
    for new in ("x + 11", "8"):  # the constant is made of the function, and of the other constant
        assert "test_edge" in chosen(tests, project, new)
    assert "test_nothing" not in chosen(tests, project, "8")


def test_a_test_that_fails_with_the_fault_alone_notices_it(tests: SurvivorTests, project: Path) -> None:
    found = noticed(tests, project, "x - y")
    assert found.test.startswith("checks/sums/test_") and found.ended == "fails with the fault alone"
    assert noticed(tests, project, "x & 3") == Ending("", "no test executes it")
    assert noticed(tests, project, "x >= 100").ended == "7 tests that execute it pass"
    assert "x + y" in module_of(project).path.read_text()


def test_a_test_that_fails_without_the_fault_says_nothing(tests: SurvivorTests, project: Path) -> None:
    path = project / "checks/sums/test_remembered.py"
    path.write_text(
        "def test_first(): assert False\ndef test_again(): assert False\n"
    )  # since it was recorded
    assert noticed(tests, project, "x - y").test == "checks/sums/test_total.py::test_forked"
    path.write_text(FILES["checks/sums/test_remembered.py"])


def test_tests_that_do_not_end_are_said_to_notice_nothing(project: Path) -> None:
    path = project / "checks/test_alone.py"
    path.write_text("from fragile.sums.total import unseen\ndef test_it():\n    while unseen(1) == 1: pass\n")
    tests = SurvivorTests([project / "checks"], module_of(project), limit=1)
    tests.record()
    assert noticed(tests, project, "x & 3") == Ending("", "the tests that execute it did not end in 1 s")
    path.write_text(FILES["checks/test_alone.py"])


def test_tests_that_cannot_be_run_are_an_error(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MMAPROOF_CACHE", str(project / "another"))
    monkeypatch.setenv("PYTEST_ADDOPTS", "--no-such-option")
    with pytest.raises(RecordingError, match="exit code 4: ERROR: "):
        SurvivorTests([project / "checks"], module_of(project)).record()


def test_places_are_named_by_their_functions() -> None:
    text = "class C:\n    @deco\n    def f(self, x):\n        if x:\n            y = 1\n        return y\n"
    assert list(place_names(text).values()) == ["C.f", "C.f 0", "C.f 1", "C.f 2"]
    assert list(place_names(text)) == [2, 4, 5, 6]
    assert list(place_names("\n" + text).values()) == list(place_names(text).values())


@given(st.lists(st.tuples(st.integers(0, 60), st.floats(0, 100)), max_size=80))
def test_batches_have_few_files_first_and_no_test_twice(tests: list[tuple[int, float]]) -> None:
    named = [RecordedTest(f"{n}", Path(str(file)), took) for n, (file, took) in enumerate(tests)]
    found = list(batches(named))
    ran = [test for batch in found for test in batch]
    assert len(set(ran)) == len(ran) and set(ran) <= set(named)
    assert all(batch == sorted(batch, key=named.index) for batch in found)
    if sum(took for _, took in tests) <= BATCHES[0][1] and len({file for file, _ in tests}) <= BATCHES[0][0]:
        assert found in ([named], [])
