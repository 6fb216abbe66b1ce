"""What is in the repository is what gets installed."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any

from source_modules import LAYERS, REPOSITORY

import mmaproof

EXAMPLES = REPOSITORY / "examples"


def settings() -> dict[str, Any]:
    return tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))


def test_every_package_folder_is_listed() -> None:
    folders = {path.parent for layer in LAYERS for path in (REPOSITORY / layer).rglob("*.py")}
    folders |= {EXAMPLES, *(path.parent for path in EXAMPLES.glob("*/*") if path.suffix != ".pyc")}
    expected = {
        "mmaproof": "package",
        **{
            ".".join(("mmaproof", *folder.relative_to(REPOSITORY).parts)): str(
                folder.relative_to(REPOSITORY).as_posix()
            )
            for folder in folders
        },
    }
    setuptools = settings()["tool"]["setuptools"]
    assert setuptools["package-dir"] == expected
    assert set(setuptools["packages"]) == set(expected)


def test_every_package_says_what_it_is_for() -> None:
    for folder in settings()["tool"]["setuptools"]["package-dir"].values():
        if (REPOSITORY / folder).parent != EXAMPLES:  # these are files alone
            assert (REPOSITORY / folder / "__init__.py").read_text(encoding="utf-8").startswith('"""')


def test_files_that_are_not_modules_ship() -> None:
    assert files("mmaproof").joinpath("py.typed").is_file()
    templates = {
        path.relative_to(REPOSITORY)
        for layer in LAYERS
        for kind in ("*.j2", "*.txt", "*.tsv", "*.lark")
        for path in (REPOSITORY / layer).rglob(kind)
    }
    assert templates
    for path in templates:
        assert files(".".join(("mmaproof", *path.parent.parts))).joinpath(path.name).is_file(), path


def test_python_runs_the_package(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mmaproof", "--version"]
    printed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert printed.stdout == f"mmaproof {mmaproof.__version__}\n"
    assert settings()["project"]["version"] == mmaproof.__version__


def test_the_licence_is_whole() -> None:
    text = (REPOSITORY / "LICENSE").read_text(encoding="utf-8")
    assert "TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION" in text
    assert "END OF TERMS AND CONDITIONS" in text
