"""``@pytest.mark.mmaproof`` in somebody's tests."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cuda_contracts import CORPUS

TESTS = """\
import pytest


@pytest.mark.mmaproof("right.ptx", "contract.toml")
def test_right():
    pass


@pytest.mark.mmaproof("right.ptx", "contract.toml")
def test_report(mmaproof_report):
    assert mmaproof_report.result.verdict == "verified"


@pytest.mark.mmaproof("faulty.ptx", "contract.toml", allowed=["undecided", "unsupported"])
def test_faulty():
    pass


@pytest.mark.mmaproof("foreign.ptx", "contract.toml")
def test_unsupported():
    pass


@pytest.mark.mmaproof("foreign.ptx", "contract.toml", allowed=["unsupported"])
def test_allowed():
    pass


@pytest.mark.mmaproof("nothing.ptx", "contract.toml")
def test_missing():
    pass


@pytest.mark.mmaproof("right.ptx", "contract.toml", alowed=["undecided"])
def test_misspelt():
    pass


def test_unmarked():
    pass


def test_without_a_mark(mmaproof_report):
    pass
"""


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, str], str]:
    folder: Path = tmp_path_factory.mktemp("theirs")
    right = (CORPUS / "mma_s4_sm80.ptx").read_text()
    (folder / "right.ptx").write_text(right)
    (folder / "faulty.ptx").write_text(right.replace("{%r96, %r97,", "{%r97, %r96,"))
    (folder / "foreign.ptx").write_text(right.replace("\tret;", "\tstacksave.u64 %rd1;\n\tret;"))
    shutil.copy(CORPUS / "mma_s4.toml", folder / "contract.toml")
    (folder / "test_kernels.py").write_text(TESTS)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-rA",
        "--strict-markers",
        "-p",
        "no:xdist",
        "-p",
        "no:cacheprovider",
    ]
    printed = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout
    lines = [line.split() for line in printed.splitlines() if line.startswith(("PASSED", "FAILED", "ERROR"))]
    return {words[1].partition("::")[2]: words[0] for words in lines}, printed


def test_what_is_not_verified_fails_unless_it_is_allowed(outcomes: tuple[dict[str, str], str]) -> None:
    assert outcomes[0] == {
        "test_right": "PASSED",
        "test_report": "PASSED",
        "test_faulty": "FAILED",
        "test_unsupported": "FAILED",
        "test_allowed": "PASSED",
        "test_missing": "FAILED",
        "test_misspelt": "ERROR",
        "test_unmarked": "PASSED",
        "test_without_a_mark": "ERROR",
    }


@pytest.mark.every_run
def test_the_failure_says_why(outcomes: tuple[dict[str, str], str]) -> None:
    printed = outcomes[1]
    for text in (
        "faulty.ptx:99: wrong-value: C[0,0] uses",
        "stacksave",
        "nothing.ptx",
        "the mark is mmaproof(",
        "mmaproof_report needs the mark",
    ):
        assert text in printed
    assert "Traceback" not in printed
