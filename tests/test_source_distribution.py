"""What is published: a source distribution with everything, and a description whose links lead somewhere."""

from __future__ import annotations

import re
import runpy
import subprocess
from pathlib import Path

import pytest
from source_modules import REPOSITORY

SETUP = runpy.run_path(str(REPOSITORY / "setup.py"))
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
ALWAYS = {"LICENSE", "README.md", "pyproject.toml", "setup.py", "MANIFEST.in"}
"""What setuptools takes by itself."""
NOT_PUBLISHED = {".gitignore"}


def test_the_source_distribution_has_every_file() -> None:
    said = re.findall(r"^(graft|include) (.*)$", (REPOSITORY / "MANIFEST.in").read_text(), re.MULTILINE)
    taken = {name for _, names in said for name in names.split()}
    listed = subprocess.run(["git", "ls-files"], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a repository of git")
    tracked = {Path(name).parts[0] for name in listed.stdout.splitlines()}
    assert tracked - ALWAYS - NOT_PUBLISHED == taken


def test_links_of_the_description_are_absolute() -> None:
    text = SETUP["description"](README, "https://example.org/mmaproof")
    targets = re.findall(r"\]\(([^)]*)\)", text)
    assert len(targets) == len(re.findall(r"\]\(([^)]*)\)", README)) > 10
    assert all(target.startswith("https://") for target in targets)


def test_without_a_repository_links_are_words() -> None:
    text = SETUP["description"](README, "")
    assert "](docs/" not in text and "docs/contracts.md" in text


def test_addresses_are_in_one_place() -> None:
    for path in (*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/*.md"), REPOSITORY / "CITATION.cff"):
        assert "OWNER" not in path.read_text(encoding="utf-8"), path
