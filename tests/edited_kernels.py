"""Copies of kernels in which a few pieces of text are other ones."""

from __future__ import annotations

from pathlib import Path


def edited(folder: Path, kernel: Path, *changes: tuple[str, str]) -> Path:
    """Return a copy of a kernel in a folder, with texts that it has once replaced by others."""
    text = kernel.read_text(encoding="utf-8")
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    path = folder / kernel.name
    path.write_text(text, encoding="utf-8")
    return path
