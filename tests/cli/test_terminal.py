"""What is shown on a terminal: drawn tables that fit, a pager for what is longer, none elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

fcntl = pytest.importorskip("fcntl")
pty = pytest.importorskip("pty")
termios = pytest.importorskip("termios")

MMA = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"


def shown(*arguments: str, width: int = 80, height: int = 24, **variables: str) -> str:
    """Return what a command writes on a terminal of a size."""
    theirs, ours = pty.openpty()
    fcntl.ioctl(
        ours,
        termios.TIOCSWINSZ,
        height.to_bytes(2, sys.byteorder) + width.to_bytes(2, sys.byteorder) + bytes(4),
    )
    environment = {
        name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "PAGER", "LESS")
    }
    environment |= {"TERM": "xterm", "NO_COLOR": "1", **variables}
    command = [sys.executable, "-m", "mmaproof", *arguments]
    with subprocess.Popen(command, stdin=ours, stdout=ours, stderr=ours, env=environment) as process:
        os.close(ours)
        written = b""
        while True:
            try:
                part = os.read(theirs, 1 << 16)
            except OSError:  # how Linux says that the other side is closed
                part = b""
            if not part:
                break
            written += part
    os.close(theirs)
    assert process.returncode == 0
    return re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", written.decode()).replace("\r\n", "\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ("tables", "mfma"),
        ("run", "--list-choices"),
        ("explain", "xvi8ger4"),
        ("layout", "v_mfma_f32_32x32x8f16", "--operand", "c"),
        ("layout", "v_mfma_f32_32x32x8f16", "--operand", "c", "--view", "registers"),
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_no_row_is_wider_than_the_terminal(arguments: tuple[str, ...]) -> None:
    text = shown(*arguments, "--no-pager")
    assert max(len(line) for line in text.splitlines()) <= 80
    assert "| ---" not in text


def test_every_column_of_a_table_is_drawn() -> None:
    text = " ".join(shown("tables", "mfma", "--no-pager").split())
    for title in ("mnemonic", "operands", "targets"):
        assert title in text
    assert text.count("v_mfma_f32_32x32x8_f16") > 1, "each part begins with the name"


def test_what_is_longer_than_the_terminal_goes_through_the_pager(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    assert shown("tables", "mfma", PAGER=f"cat > '{kept}'") == ""
    assert "v_mfma_f32_32x32x8_f16" in kept.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "variables"),
    [
        (("tables", "mfma", "--no-pager"), {"PAGER": "false"}),
        (("tables", "mfma"), {"PAGER": "false", "NO_PAGER": "1"}),
        (("tables", "mfma"), {"PAGER": ""}),
        (("layout", "xvf64ger", "--operand", "acc"), {"PAGER": "false"}),
    ],
    ids=["--no-pager", "NO_PAGER", "no PAGER", "short"],
)
def test_without_a_pager_everything_is_printed(arguments: tuple[str, ...], variables: dict[str, str]) -> None:
    assert len(shown(*arguments, **variables).splitlines()) > 4


def test_a_pager_that_ends_early_is_no_failure() -> None:
    assert shown("tables", "ptx", PAGER="head -n 1").count("\n") == 1


def test_a_pipe_gets_no_pager() -> None:
    command = [sys.executable, "-m", "mmaproof", "tables", "mfma"]
    environment = {**os.environ, "PAGER": "false"}
    out = subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout
    assert out.startswith("| mnemonic |")
