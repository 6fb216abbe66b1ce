"""The command as a process: status, streams, start-up, broken pipes, Ctrl-C, encodings."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mmaproof import __version__

COMMANDS = ("check", "list", "explain", "export", "legal", "tables", "run", "replay", "verify", "gate")
REAL = "power/masking/disabled/pmxvi8ger4pp"


def started(*arguments: str, **options) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "mmaproof", *arguments]
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, text=True, encoding="utf-8", **{**pipes, **options})


def finished(*arguments: str, **options) -> tuple[int, str, str]:
    with started(*arguments, **options) as process:
        out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def test_version() -> None:
    assert finished("--version") == (0, f"mmaproof {__version__}\n", "")


@pytest.mark.parametrize("command", [(), *((command,) for command in COMMANDS)], ids=str)
def test_help_documents_the_exit_status(command: tuple[str, ...]) -> None:
    status, out, err = finished(*command, "--help")
    assert (status, err) == (0, "")
    assert "0 holds; 1 does not hold" in " ".join(out.split())
    if not command:
        assert all(f"  {name} " in out for name in COMMANDS)


def imported(*arguments: str) -> set[str]:
    script = (
        "import sys\nfrom mmaproof.cli.app import main\n"
        "try: main(sys.argv[1:])\nexcept SystemExit: pass\nprint(*sys.modules, file=sys.stderr)"
    )
    command = [sys.executable, "-c", script, *arguments]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stderr.split())


def test_help_loads_no_library_that_it_does_not_need() -> None:
    assert imported("--help").isdisjoint(
        {"numpy", "z3", "sympy", "ml_dtypes", "jinja2", "rich", "distributed"}
    )


@pytest.mark.parametrize(
    "arguments", [("list",), ("legal", "xvf32ger"), ("tables",), ("explain", "xvf32ger")]
)
def test_what_decides_nothing_loads_no_solver(arguments: tuple[str, ...]) -> None:
    assert imported(*arguments).isdisjoint({"z3", "sympy", "bitwuzla", "cvc5", "rich"})


def test_a_check_prints_plain_text_when_not_on_a_terminal(tmp_path: Path) -> None:
    environment = {**os.environ, "MMAPROOF_CACHE": str(tmp_path)}
    status, out, err = finished("check", REAL, env=environment, cwd=tmp_path)
    assert (status, err) == (0, "")
    assert out.startswith("theorem ") and "1 obligations: 1 proved" in out
    assert "\x1b" not in out


def test_a_process_ends_wrong_use_with_one_line() -> None:
    status, out, err = finished("legal", "xvf32gerqq")
    assert (status, out) == (2, "")
    assert err.startswith("mmaproof: error: unknown mnemonic") and err.count("\n") == 1


def test_a_reader_that_leaves_is_no_failure() -> None:
    with started("legal", "-", stdin=subprocess.PIPE) as process:
        assert process.stdin and process.stdout and process.stderr
        process.stdin.write("xvf32ger\n")
        process.stdin.flush()
        assert '"legal": true' in process.stdout.readline()
        process.stdout.close()
        process.stdin.write("xvf32ger\n")
        process.stdin.close()
        assert process.stderr.read() == ""
    assert process.returncode == 141


@pytest.fixture
def heeded(sent: signal.Signals) -> Iterator[None]:
    """Heed a signal that tests under nohup ignore: processes inherit what is ignored."""
    before = signal.signal(sent, signal.default_int_handler)
    yield
    signal.signal(sent, before)


ENDINGS = [
    (signal.SIGINT, 130, "interrupted"),
    (signal.SIGTERM, 143, "terminated"),
    (signal.SIGHUP, 129, "hung up"),
]


@pytest.mark.parametrize(("sent", "status", "said"), ENDINGS)
@pytest.mark.usefixtures("heeded")
def test_a_signal_ends_with_one_line(tmp_path: Path, sent: signal.Signals, status: int, said: str) -> None:
    with started("legal", "-", "--junit", "out.xml", stdin=subprocess.PIPE, cwd=tmp_path) as process:
        assert process.stdin and process.stdout and process.stderr
        process.stdin.write("xvf32ger\n")
        process.stdin.flush()
        process.stdout.readline()
        process.send_signal(sent)
        assert process.stderr.read() == f"mmaproof: error: {said}\n"
    assert process.returncode == status
    assert list(tmp_path.iterdir()) == []


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


BROKEN_IMPORT = """
import sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            raise {raised}
sys.meta_path.insert(0, Finder())
from mmaproof.cli.entry import main
main(["legal", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"])
"""

SLOW_IMPORT = """
import sys, os, signal
class Finder:  # sends a signal while a module is looked for
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            os.kill(os.getpid(), {sent})
sys.meta_path.insert(0, Finder())
from mmaproof.cli.entry import main
main({arguments!r})
"""


@pytest.mark.parametrize(
    ("name", "sent", "status", "said"),
    [
        ("typer", *ENDINGS[1]),
        ("numpy", *ENDINGS[2]),
        *(
            (name, *ENDINGS[0])
            for name in ("typer", "mmaproof.cli.endings", "mmaproof.spec.errors", "mmaproof.spec.layout")
        ),
    ],
)
@pytest.mark.usefixtures("heeded")
def test_a_signal_while_it_still_imports_ends_with_one_line(
    name: str, sent: signal.Signals, status: int, said: str
) -> None:
    program = SLOW_IMPORT.format(
        name=name,
        sent=int(sent),
        arguments=["layout", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "--operand", "a"],
    )
    result = run("-c", program)
    assert (result.returncode, result.stderr) == (status, f"mmaproof: error: {said}\n")


NAMES = ["typer", "mmaproof.cli.legality", "mmaproof.spec.errors", "mmaproof.spec.ptx"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("raised", ["ImportError('broken')", "SyntaxError('broken')", "KeyError('broken')"])
def test_what_can_not_be_imported_is_a_defect_in_one_line(name: str, raised: str) -> None:
    program = BROKEN_IMPORT.format(name=name, raised=raised)
    result = run("-c", program)
    assert result.returncode == 4
    assert result.stderr.startswith("mmaproof: error: ") and result.stderr.count("\n") == 1
    assert "broken" in result.stderr


def test_a_signal_that_is_ignored_stays_ignored() -> None:
    program = (
        "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "from mmaproof.cli.entry import main\nimport os; from mmaproof.cli import entry\n"
        "entry.end_on_signals(); os.kill(os.getpid(), signal.SIGHUP); main(['--version'])"
    )
    result = run("-c", program)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("descriptor", [0, 1, 2])
def test_a_stream_that_is_closed_is_no_defect(tmp_path: Path, descriptor: int) -> None:
    shell = f'exec "$0" -m mmaproof tables power --rules --out rules.md {descriptor}>&-'
    command = ["sh", "-c", shell, sys.executable]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert (tmp_path / "rules.md").read_text().startswith("| ")


def test_a_full_disk_is_said_in_one_line() -> None:
    with Path("/dev/full").open("w") as full:
        status, _, err = finished("tables", stdout=full)
    assert status == 2
    assert err.startswith("mmaproof: error: ") and err.count("\n") == 1


def test_a_terminal_without_mathematics_still_gets_an_answer() -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    status, out, err = finished("explain", "xvf32ger", env=environment)
    assert (status, err) == (0, "")
    assert "\\u2190" in out


def test_a_command_imports_no_other_command() -> None:
    modules = imported("legal", "xvf32ger")
    assert "mmaproof.cli.legality" in modules
    assert modules.isdisjoint({"mmaproof.cli.verify", "mmaproof.cli.check", "mmaproof.cli.browse"})
