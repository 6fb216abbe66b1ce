"""Tests of what the catalogue does not notice: which are run, in which order, and what they say."""

from __future__ import annotations

from pathlib import Path

import pytest

from mmaproof.proofs.mutation.dependent_tests import dependent_tests
from mmaproof.proofs.mutation.scope import Role, SpecificationModule
from mmaproof.proofs.mutation.source_faults import Fault, faults
from mmaproof.proofs.mutation.survivor_tests import Ending, SurvivorTests

FILES = {
    "pytest.ini": "[pytest]\npythonpath = checks\naddopts = --import-mode=importlib\n",
    "installed/fragile/__init__.py": "",
    "installed/fragile/sums/__init__.py": "",
    "installed/fragile/sums/total.py": "def total(x, y): return x + y\ndef unseen(x): return x * 3\n",
    "installed/fragile/sums/other.py": "LIMIT = 7\n",
    "installed/fragile/last.py": "def late():\n    from .sums import total\n    return total.total(1, 2)\n",
    "checks/by_total.py": "from fragile.sums.total import total\n",
    "checks/test_alone.py": "def test_nothing(): pass\n",
    "checks/test_far.py": "def test_sum():\n    from fragile.last import late\n    assert late() == 3\n",
    "checks/test_by.py": "from by_total import total\ndef test_zero(): assert total(0, 0) == 0\n",
    "checks/sums/test_total.py": (
        "import subprocess, sys\nfrom fragile.sums.total import total\ndef test_broken(): assert False\n"
        "def test_elsewhere():\n"
        "    program = 'from fragile.sums.total import total; assert total(1, 2) == 3'\n"
        "    subprocess.run([sys.executable, '-c', program], check=True)\n"
    ),
    "checks/sums/test_mirror.py": "def test_nothing(): pass\n",
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "installed"))
    return tmp_path


def fault_of(project: Path, name: str, new: str) -> tuple[SpecificationModule, Fault]:
    path = project.joinpath("installed", *name.split(".")).with_suffix(".py")
    (fault,) = (fault for fault in faults(path.read_text()) if fault.new == new)
    return SpecificationModule(name, path, f"{name}.py", "", Role.SEMANTICS), fault


def test_tests_that_depend_on_a_module_come_by_distance(project: Path) -> None:
    checks = project / "checks"

    def found(module: str) -> list[str]:
        return [path.stem for path in dependent_tests(module, project / "installed/fragile", checks)]

    assert found("fragile.sums.total") == ["test_total", "test_by", "test_far", "test_mirror"]
    assert found("fragile.last") == ["test_far"]
    assert found("fragile.sums.other") == ["test_mirror", "test_total"]


def test_a_test_that_fails_with_the_fault_alone_notices_it_in_processes_too(project: Path) -> None:
    with SurvivorTests(project / "checks") as tests:
        noticed = tests.of(*fault_of(project, "fragile.sums.total", "x - y"))
        assert noticed == Ending("checks/sums/test_total.py::test_elsewhere", "fails with the fault alone")
        unnoticed = tests.of(*fault_of(project, "fragile.sums.total", "4"))
        assert unnoticed == Ending("", "4 files of tests pass")
    assert "x + y" in (project / "installed/fragile/sums/total.py").read_text()


def test_a_file_that_cannot_be_collected_notices_and_no_file_depends_on_nothing(project: Path) -> None:
    with SurvivorTests(project / "checks") as tests:
        (project / "checks/sums/test_total.py").write_text(
            "import fragile.sums.other as o\n1 // (o.LIMIT - 6)\n"
        )
        noticed = tests.of(*fault_of(project, "fragile.sums.other", "6"))
        assert noticed.test == "checks/sums/test_total.py"
        module, fault = fault_of(project, "fragile.sums.other", "8")
        for path in (project / "checks/sums").iterdir():
            path.unlink()
        assert tests.of(module, fault).ended == "no test depends on the module"


def test_tests_that_do_not_end_are_said_to_notice_nothing(project: Path) -> None:
    (project / "checks/sums/test_total.py").write_text("while True: pass\n")
    with SurvivorTests(project / "checks", 1) as tests:
        assert tests.of(*fault_of(project, "fragile.sums.other", "8")) == Ending(
            "", "the tests that depend on it did not end in 1 s"
        )
