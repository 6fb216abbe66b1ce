"""Every console block of the documents prints what it shows, in the order in which a reader types it.

A block is commands after ``$ `` and what they print; ``…`` stands for lines left out, or for the rest of its
line. The blocks of a document are one session of a shell, which begins in an empty directory, of an example
in a copy of its own. Times, and how much came from the cache, are not compared. Blocks of Python with a
prompt are one session of Python for each document, which begins in the repository.
"""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
EXAMPLES = REPOSITORY / "examples"
DOCUMENTS = [
    path
    for path in (
        REPOSITORY / "README.md",
        *sorted((REPOSITORY / "docs").rglob("*.md")),
        *sorted(EXAMPLES.rglob("*.md")),
    )
    if "```console\n" in path.read_text(encoding="utf-8")
]
PYTHON_DOCUMENTS = [
    path
    for path in sorted((REPOSITORY / "docs").glob("*.md"))
    if "```python\n>>> " in path.read_text(encoding="utf-8")
]
INSTALLS = ("pip install", "apt-get install")
"""What a block of installation has: such blocks are for a machine that has nothing yet."""

MARK = "--- end of a command ---"


@dataclass(frozen=True)
class Command:
    """A command of a document, and what is shown beneath it."""

    text: str
    shown: tuple[str, ...]


def commands(text: str) -> list[Command]:
    """Return the commands of all console blocks that don't install."""
    found: list[Command] = []
    for block in re.findall(r"^```console\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        if any(word in block for word in INSTALLS):
            continue
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            lines = part.splitlines()
            length = 1 + next(k for k in range(len(lines)) if _complete("\n".join(lines[: k + 1])))
            found.append(Command("\n".join(lines[:length]), tuple(lines[length:])))
    return found


def _complete(text: str) -> bool:
    """Whether quotes are closed: a command goes on until they are."""
    return text.count('"') % 2 == 0 and not text.endswith("\\")


def printed(document: Path, folder: Path) -> list[str]:
    """Return what each command of a document prints, run in a folder."""
    script = "exec 2>&1\n" + "".join(
        f"{command.text}\necho '{MARK}'\n" for command in commands(document.read_text(encoding="utf-8"))
    )
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "COLUMNS": "200",
    }
    environment.pop("GITHUB_ACTIONS", None)
    ran = subprocess.run(
        ["bash"], input=script, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return ran.stdout.split(f"{MARK}\n")[:-1]


def masked(line: str) -> str:
    """Return a line without times, without counts of the cache, and with single spaces."""
    line = re.sub(r"\d+ from the cache", "# from the cache", line)
    line = re.sub(r"\S+ \(\d+\.\d+ s\)", "", line)
    return re.sub(r"\s+", " ", re.sub(r"\d+\.\d\d+", "#", line)).strip()


def pattern(shown: tuple[str, ...]) -> str:
    """Return the expression that matches what a document shows."""
    return "".join(map(_line, "\n".join(shown).rstrip().splitlines()))


def _line(shown: str) -> str:
    if shown == "…":
        return r"(?:.*\n)*?"
    whole = not shown.endswith(" …")
    return re.escape(masked(shown if whole else shown[:-2])) + (r"\n" if whole else r".*\n")


def agrees(shown: tuple[str, ...], output: str) -> bool:
    """Whether a command printed what is shown."""
    text = "".join(f"{masked(line)}\n" for line in output.splitlines())
    return re.fullmatch(pattern(shown), text) is not None


def case(document: Path) -> object:
    """Return a document as a case; the README, which newcomers follow, is one of every run."""
    marks = [pytest.mark.every_run] if document == REPOSITORY / "README.md" else []
    return pytest.param(document, id=str(document.relative_to(REPOSITORY)), marks=marks)


@pytest.mark.parametrize("document", [case(document) for document in DOCUMENTS])
def test_documents_show_what_is_printed(document: Path, tmp_path: Path) -> None:
    folder = tmp_path
    if document.is_relative_to(EXAMPLES):
        folder = tmp_path / "examples" / document.parent.relative_to(EXAMPLES)
        shutil.copytree(EXAMPLES, tmp_path / "examples")
    said = commands(document.read_text(encoding="utf-8"))
    outputs = printed(document, folder)
    assert len(outputs) == len(said)
    different = [
        f"$ {each.text}\n{output}"
        for each, output in zip(said, outputs, strict=True)
        if not agrees(each.shown, output)
    ]
    assert not different, "\n".join(different)


def session(text: str, name: str) -> doctest.DocTest:
    """Return the Python session of a document: its blocks that begin with a prompt."""
    blocks = re.findall(r"^```python\n(>>> .*?)^```", text, re.MULTILINE | re.DOTALL)
    return doctest.DocTestParser().get_doctest("\n".join(blocks), {}, name, None, 0)


@pytest.mark.parametrize("document", PYTHON_DOCUMENTS, ids=lambda path: path.name)
def test_sessions_of_python_show_what_is_printed(document: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(REPOSITORY)
    said: list[str] = []
    examples = session(document.read_text(encoding="utf-8"), document.name)
    ran = doctest.DocTestRunner(verbose=False).run(examples, out=said.append)
    assert ran.attempted and not ran.failed, "".join(said)


def test_another_result_of_python_would_be_noticed() -> None:
    said: list[str] = []
    examples = session("```python\n>>> 1 + 1\n3\n```\n", "a page")
    assert doctest.DocTestRunner(verbose=False).run(examples, out=said.append).failed == 1


def test_another_output_would_be_noticed() -> None:
    assert agrees(("a 1.25 s", "…", "c"), "a 7.50 s\nb\nb\nc\n")
    assert not agrees(("a", "…", "c"), "a\nb\n")
    assert not agrees(("a",), "a\nb\n")


def test_a_command_goes_on_until_its_quotes_are_closed() -> None:
    text = '```console\n$ python -c "\nprint(1)"\n1\n$ true\n```\n'
    assert commands(text) == [Command('python -c "\nprint(1)"', ("1",)), Command("true", ())]
