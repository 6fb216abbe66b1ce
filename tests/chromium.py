"""Pages as a browser shows them, after their programs have run."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

needs_chromium = pytest.mark.skipif(
    shutil.which("chromium") is None, reason="chromium, which runs the page, is not installed"
)

_QUIET = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


def dom(page: Path, fragment: str = "") -> str:
    """Return the elements of a page that was opened at a fragment."""
    options = [*_QUIET, f"--user-data-dir={page.parent / 'profile'}", "--dump-dom"]
    address = f"{page.as_uri()}#{fragment}"
    command = ["chromium", *options, address]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
