"""Result files are whole or not there, all of a command or none."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from command_line import mmaproof

from mmaproof.cli import files
from mmaproof.cli.signals import Stopped
from mmaproof.spec.errors import InputError, OutOfBudget


@pytest.mark.parametrize("reason", [KeyError, Stopped, OutOfBudget, SystemExit, OSError])
def test_nothing_is_left_of_a_file_that_was_not_finished(tmp_path: Path, reason: type[BaseException]) -> None:
    (tmp_path / "old").write_text("precious")
    for name in ("new", "old"):
        with pytest.raises(reason), files.result_file(tmp_path / name) as stream:
            stream.write(b"half")
            stream.flush()
            raise reason
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("old", "precious")]


def test_a_disk_that_fills_up_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("precious")
    full = OSError(28, "No space left on device")
    with (
        pytest.raises(InputError, match="old: can't be written: No space"),
        files.result_file(tmp_path / "old"),
    ):
        raise full
    with pytest.raises(OSError, match="other"), files.result_file(tmp_path / "old"):
        raise OSError(28, "No space left on device", "other")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("old", "precious")]


def test_what_is_left_of_a_process_that_ends_at_once_can_be_removed(tmp_path: Path) -> None:
    with pytest.raises(InputError), files.result_file(tmp_path / "new") as stream:
        stream.write(b"half")
        files.remove_partial()
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("order", [("--json", "--sarif"), ("--sarif", "--json")])
def test_a_full_disk_leaves_no_other_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, order) -> None:
    monkeypatch.chdir(tmp_path)
    Path("table.csv").write_text("instruction\nxvf32ger\n")
    result = mmaproof("gate", "table.csv", order[0], "/dev/full", order[1], "result")
    assert (result.status, result.err.count("\n")) == (2, 1)
    assert "No space left" in result.err
    assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]


def test_a_name_that_is_not_utf8_is_written_as_an_escape(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    name = "ta\udcffble.csv"
    Path(name).write_text("instruction\nxvf32gerqq\n")
    result = mmaproof(
        "gate", name, "--json", "a.json", "--junit", "a.xml", "--sarif", "a.sarif", "--html", "a.html"
    )
    assert result.status in (1, 2, 3)
    assert "ta\\udcffble.csv" in result.out + result.err
    for path in tmp_path.glob("a.*"):
        path.read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", ["json", "junit", "sarif", "html"])
def test_a_result_on_standard_output_is_alone_there(tmp_path: Path, kind: str) -> None:
    table = tmp_path / "table.csv"
    table.write_text("instruction\nxvf32gerqq\n")
    asked = mmaproof("gate", table, f"--{kind}", "-")
    written = tmp_path / "result"
    apart = mmaproof("gate", table, f"--{kind}", written)
    assert (asked.status, without_times(asked.err)) == (apart.status, without_times(apart.out))
    assert without_times(asked.out) == without_times(written.read_text(encoding="utf-8"))
    assert not Path("-").exists()


def without_times(text: str) -> str:
    return re.sub(r"\d+\.\d+|\d{4}-\d\d-\d\d\S*", "#", text)


def test_two_results_on_standard_output_are_wrong_use() -> None:
    result = mmaproof("check", "power/encoding", "--json", "-", "--sarif", "-")
    assert result.wrong_use and "--json and --sarif" in result.err


def test_arrays_can_be_written_to_standard_output(tmp_path: Path) -> None:
    np.savez(tmp_path / "in.npz", x=np.ones((4, 1), np.float32), y=np.ones((4, 1), np.float32))
    command = [sys.executable, "-m", "mmaproof", "run", "xvf32ger", str(tmp_path / "in.npz"), "--out", "-"]
    done = subprocess.run(command, capture_output=True, check=True)
    assert np.load(io.BytesIO(done.stdout))["acc"].tolist() == [[1.0] * 4] * 4


@pytest.mark.parametrize("kind", ["json", "junit", "sarif"])
def test_what_is_printed_can_have_the_format_of_a_file(tmp_path: Path, kind: str) -> None:
    table, written = tmp_path / "table.csv", tmp_path / "result"
    table.write_text("instruction\nxvf32gerqq\n")
    shown = mmaproof("gate", table, "--output-format", kind)
    apart = mmaproof("gate", table, f"--{kind}", written)
    assert (shown.status, shown.err) == (apart.status, "")
    assert without_times(shown.out) == without_times(written.read_text(encoding="utf-8"))


def test_a_concise_line_is_file_line_rule_and_message(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("instruction\nxvf32gerqq\nxvf32ger\n")
    result = mmaproof("gate", table, "--output-format", "concise")
    assert re.fullmatch(rf"{re.escape(str(table))}:2: gate/undecided: .*\n", result.out)
    result = mmaproof("check", "power/encoding", "--output-format", "concise")
    assert (result.status, result.out) == (0, "")


def test_github_is_told_in_its_own_words(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("instruction\nxvf32gerqq\n")
    result = mmaproof("gate", table, "--output-format", "github")
    assert result.out.startswith(f"::warning file={table},line=2,title=gate/undecided::")
