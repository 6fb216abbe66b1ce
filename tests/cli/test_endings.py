"""However a command ends, it says so in one line, and its status says which way it was."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from command_line import mmaproof

from mmaproof.cli.signals import Stopped
from mmaproof.spec.errors import DefectError, InputError, OutOfBudget, UnsupportedError


@pytest.fixture
def ending_with(monkeypatch: pytest.MonkeyPatch):
    """Run a command out of which an exception comes."""

    def run(reason: BaseException | type[BaseException]):
        def raises(*_: object) -> None:
            raise reason

        monkeypatch.setattr("mmaproof.reports.explanation.explain", raises)
        return mmaproof("explain", "xvf32ger")

    return run


@pytest.mark.parametrize(
    ("reason", "status", "said"),
    [
        (InputError("bad", "f:1"), 2, "f:1: bad"),
        (OSError(28, "No space left on device"), 2, "No space left on device"),
        (UnsupportedError("not modelled"), 3, "not modelled"),
        (OutOfBudget("timeout after 5 s while thinking"), 3, "timeout after 5 s while thinking"),
        (MemoryError(), 3, "out of memory while running mmaproof explain"),
        (RecursionError("maximum recursion depth"), 3, "nested too deeply"),
        (DefectError("both proved and refuted"), 4, "defect of mmaproof: both proved and refuted"),
        (KeyError("x"), 4, "defect of mmaproof: KeyError: 'x'"),
        (EOFError(), 4, "defect of mmaproof: EOFError"),
        (SystemExit(0), 4, "defect of mmaproof: SystemExit: 0"),
        (AssertionError("two\nlines \x1b[31m"), 4, "AssertionError: two lines \\x1b[31m"),
        (ImportError("no such library"), 4, "ImportError: no such library"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (Stopped(signal.SIGTERM), 143, "terminated"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_exception_is_one_line_and_a_status(ending_with, reason, status, said) -> None:
    result = ending_with(reason)
    assert (result.status, result.out) == (status, "")
    assert result.err.startswith("mmaproof: error: ") and result.err.count("\n") == 1
    assert said in result.err


def test_an_interruption_that_a_library_wrapped_is_one(ending_with) -> None:
    wrapped = ImportError("initialisation failed")
    wrapped.__cause__ = Stopped(signal.SIGHUP)
    assert ending_with(wrapped).status == 129


def test_a_defect_names_its_place_and_is_reported_on_request(
    ending_with, tmp_path: Path, monkeypatch
) -> None:
    assert "set MMAPROOF_CRASH_REPORT=FILE for a report" in ending_with(ValueError("odd")).err
    monkeypatch.setenv("MMAPROOF_CRASH_REPORT", str(tmp_path / "report"))
    result = ending_with(ValueError("odd"))
    assert "(api/instructions.py:" in result.err and f"{tmp_path / 'report'} has a report" in result.err
    report = (tmp_path / "report").read_text()
    assert "arguments: ['explain', 'xvf32ger']" in report
    assert "while running mmaproof explain" in report
    assert report.rstrip().endswith("ValueError: odd")


def test_a_report_that_can_not_be_written_changes_no_status(ending_with, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("MMAPROOF_CRASH_REPORT", str(tmp_path / "no" / "report"))
    result = ending_with(ValueError("odd"))
    assert result.status == 4 and "no report: " in result.err and result.err.count("\n") == 1
