"""Result files are whole or not there, all of a command or none."""

from __future__ import annotations

from pathlib import Path

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
