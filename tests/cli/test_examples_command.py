"""``mmaproof`` alone, and ``mmaproof examples``."""

from __future__ import annotations

from pathlib import Path

import pytest
import shellingham
from command_line import mmaproof

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_command_alone_says_in_ten_lines_what_it_is_for() -> None:
    result = mmaproof()
    assert (result.status, result.err, result.out.count("\n")) == (0, "", 10)
    help_of = mmaproof("--help").out
    named = [line.split()[1] for line in result.out.splitlines() if line.startswith("  mmaproof ")]
    assert named[:-1] and all(f"\n  {name}" in help_of for name in named[:-1])


def test_the_examples_are_those_of_the_repository(tmp_path: Path) -> None:
    assert mmaproof("examples", tmp_path / "a" / "b").status == 0
    copied = {path.relative_to(tmp_path / "a" / "b"): path.read_bytes() for path in files(tmp_path)}
    kept = {path.relative_to(EXAMPLES): path.read_bytes() for path in files(EXAMPLES)}
    assert len(copied) > 50 and copied == kept


def files(folder: Path) -> list[Path]:
    return [p for p in folder.rglob("*") if p.is_file() and p.suffix != ".pyc" and p.name != "__init__.py"]


def test_they_can_be_copied_again_but_overwrite_nothing(tmp_path: Path) -> None:
    assert mmaproof("examples", tmp_path).status == 0
    assert mmaproof("examples", tmp_path).status == 0
    (tmp_path / "README.md").write_text("mine")
    (tmp_path / "verify" / "mma_s4.toml").unlink()
    result = mmaproof("examples", tmp_path)
    assert result.wrong_use and "README.md" in result.err
    assert not (tmp_path / "verify" / "mma_s4.toml").exists()


def test_a_file_in_the_way_is_wrong_use(tmp_path: Path) -> None:
    (tmp_path / "verify").write_text("")
    assert mmaproof("examples", tmp_path).wrong_use


def test_shells_are_told_how_to_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    for shell, words in {"bash": "_MMAPROOF_COMPLETE", "fish": "complete --command mmaproof"}.items():
        shown = mmaproof("--show-completion", shell)
        assert (shown.status, shown.err) == (0, "") and words in shown.out
    for name, value in {"WORDS": "mmaproof verify --ev", "CWORD": "2"}.items():
        monkeypatch.setenv(f"COMP_{name}", value)
    monkeypatch.setenv("_MMAPROOF_COMPLETE", "complete_bash")
    answered = mmaproof()
    assert (answered.status, answered.out.split()) == (0, ["--every"])


def test_the_shell_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shellingham.detect_shell", lambda: ("zsh", "/bin/zsh"))
    assert "compdef _mmaproof_completion mmaproof" in mmaproof("--show-completion").out


def test_without_a_shell_one_has_to_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_found() -> None:
        raise shellingham.ShellDetectionFailure

    monkeypatch.setattr("shellingham.detect_shell", none_found)
    told = mmaproof("--show-completion")
    assert told.wrong_use and "mmaproof --show-completion bash|zsh" in told.err
    other = mmaproof("--show-completion", "tcsh")
    assert other.wrong_use and "'tcsh'" in other.err and "bash" in other.err
