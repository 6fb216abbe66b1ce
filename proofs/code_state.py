"""The state of the package's code: the cache key of answers that depend on nothing else."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from .verdict import RECORD

DECIDING: Final = ("spec", "smt", "refinement/rules", "proofs")
"""Folders of the package that obligations are made of: the rows of the verifier's rules are theorems, too."""

EXPLAINING: Final = (*DECIDING, "refinement", "gating", "reports")
"""Folders of the package that explanations of names are made of."""

_DEPENDENCIES = ("z3-solver", "bitwuzla", "cvc5", "numpy", "ml_dtypes", "sympy")

_digests: dict[str, str] = {}
"""Digests of contents, by what `attributes` returned of the files."""


def code_state(folders: Sequence[str] = DECIDING, known: str = "") -> str:
    """Return a digest of the files in some folders of the package, and of what runs them.

    Files are read once in a process: later on, those of the same size, inode and times of change have the
    same contents. `known` is what `attributes` has just returned, if it was asked.
    """
    known = known or attributes(folders)
    if known not in _digests:
        digest = hashlib.sha256(f"{sys.version}\n{_dependencies()}\n".encode())
        for name, path in _files(folders):
            content = Path(path).read_bytes()
            digest.update(f"{name} {len(content)}\n".encode())
            digest.update(content)
        if attributes(folders) != known:  # somebody changed them while they were read
            return digest.hexdigest()
        _digests[known] = digest.hexdigest()
    return _digests[known]


def attributes(folders: Sequence[str] = DECIDING) -> str:
    """Return a digest of the paths, sizes, inodes and times of change of the files, which are not read."""
    digest = hashlib.sha256(f"{sys.version}\n{_dependencies()}\n".encode())
    for _, path in _files(folders):
        found = os.stat(path)  # noqa: PTH116
        times = f"{found.st_mtime_ns} {found.st_ctime_ns}"
        digest.update(f"{path}\0{found.st_size} {found.st_ino} {times}\n".encode())
    return digest.hexdigest()


def take(known: str, digest: str) -> None:
    """Take over a digest that another process computed when the files had the same `attributes`."""
    _digests[known] = digest


def _files(folders: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the names under which files count, and their paths, in an order."""
    package = Path(__file__).parent.parent
    own = [str(package.joinpath(*folder.split("/"))) for folder in folders]
    for folder in dict.fromkeys([*own, *_extensions()]):
        name = Path(folder).name
        for path in _inside(folder):
            yield f"{name}{path.removeprefix(folder)}", path


def _inside(folder: str) -> Iterator[str]:
    """Yield the files in a folder and those below it, in an order, but compiled ones and `RECORD`."""
    if not os.path.isdir(folder):  # noqa: PTH112
        return
    with os.scandir(folder) as entries:
        inside = sorted(entries, key=lambda entry: entry.name)
    for entry in inside:
        if entry.is_dir():
            if entry.name != "__pycache__":
                yield from _inside(entry.path)
        elif not entry.name.endswith(".pyc") and entry.name != RECORD:  # the record is what verdicts said
            yield entry.path


def _extensions() -> list[str]:
    """Return the folders that the packages have modules in, also beside their own."""
    root = __package__.rpartition(".")[0]
    packages = (sys.modules.get(f"{root}.{name}") for name in ("spec", "smt", "proofs"))
    return [folder for package in packages if package for folder in package.__path__]


def _dependencies() -> str:
    """Return the names with versions under which the `_DEPENDENCIES` are installed where Python looks."""
    names = tuple(f"{name.replace('-', '_')}-" for name in _DEPENDENCIES)
    found = []
    for folder in filter(os.path.isdir, sys.path):
        installed = (name for name in os.listdir(folder) if name.startswith(names))  # noqa: PTH208
        found += sorted(name for name in installed if name.endswith((".dist-info", ".egg-info")))
    return " ".join(found)
