"""Which tests execute which blocks of a specification, recorded once for each file of tests.

The tests run on a copy of the package whose processes write down what they enter (`entered_places`). What is
kept in the user's cache for a file stays until the file changes; places are named by their functions, so that
it outlives most changes of the specification. A verdict on a fault never rests on it: it only tells which
tests are worth a run, and in which order.
"""

from __future__ import annotations

import ast
import gzip
import hashlib
import json
import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mmaproof.proofs.cache import default_directory

from . import entered_places, recording_plugin
from .blocks import blocks_of, bodies, first_line

_KEPT = "recorded-tests-1"
"""The folder in the cache; the number is of what is in its files."""


class RecordingError(Exception):
    """What tests execute can't be recorded; the text says why."""


@dataclass(frozen=True)
class RecordedTest:
    """A test that passed while it was recorded.

    Attributes
    ----------
    name : str
        Its id.
    file : Path
        Where it is.
    seconds : float
        Processor time that it took.
    """

    name: str
    file: Path
    seconds: float


class RecordedTests:
    """What tests execute.

    Parameters
    ----------
    package : Path
        The folder of the package that has the specification.
    specification : sequence of Path
        The files of the specification.
    files : sequence of Path
        The files of tests.
    """

    def __init__(self, package: Path, specification: Sequence[Path], files: Sequence[Path]) -> None:
        self._package = package
        self._specification = specification
        self._kept = {file: _kept_at(file) for file in files}
        self._documents: dict[Path, _Document] = {}
        self._named: dict[Path, dict[int, str]] = {}

    def missing(self) -> list[Path]:
        """Return the files of tests that nothing is kept of."""
        return [file for file, kept in self._kept.items() if not kept.exists()]

    def record(self, run: Callable[[Sequence[str], Path, Mapping[str, str]], None]) -> None:
        """Run the tests that nothing is kept of, and keep what they execute.

        Parameters
        ----------
        run : callable
            Runs pytest with arguments, a folder ahead of the installed packages, in which the package is
            put, and variables of the environment.

        Raises
        ------
        RecordingError
            If no tests ran.
        """
        if not (missing := self.missing()):
            return
        with TemporaryDirectory() as copied, TemporaryDirectory() as written:
            copy = Path(copied, self._package.name)
            names = {
                str(copy / path.relative_to(self._package)): self._names(path) for path in self._specification
            }
            Path(copied, "sitecustomize.py").write_text(entered_places.STARTED_FIRST, encoding="utf-8")
            Path(written, entered_places.WATCHED).write_text("\n".join(names), encoding="utf-8")
            arguments = ["--assert=plain", "--continue-on-collection-errors", "-p", recording_plugin.__name__]
            run([*arguments, *map(str, missing)], Path(copied), {entered_places.FOLDER: written})
            found = _Written(names)
            for path in sorted(Path(written).glob("*.jsonl")):
                found.read(path)
        if not found.ended:
            raise RecordingError("pytest did not run")
        for file in missing:
            _write(self._kept[file], found.document(file))

    def _names(self, path: Path) -> dict[int, str]:
        if path not in self._named:
            inside = path.relative_to(self._package).as_posix()
            found = place_names(path.read_text(encoding="utf-8"))
            self._named[path] = {line: f"{inside}:{name}" for line, name in found.items()}
        return self._named[path]

    def entering(self, places: Iterable[tuple[Path, int]]) -> list[RecordedTest]:
        """Return the tests that enter one of the functions or blocks of modules that begin on lines."""
        return self._entering({self._names(path).get(line, "") for path, line in places})

    def entering_module(self, path: Path) -> list[RecordedTest]:
        """Return the tests that enter any function of a module."""
        return self._entering(set(self._names(path).values()))

    def _entering(self, names: Collection[str]) -> list[RecordedTest]:
        found: list[RecordedTest] = []
        for file in self._kept:
            document = self._document(file)
            wanted = _union(1 << number for number, name in enumerate(document.places) if name in names)
            found += [
                RecordedTest(name, file, seconds)
                for name, (seconds, places) in document.tests.items()
                if places & wanted
            ]
        return found

    def at_import(self, path: Path, line: int) -> bool:
        """Whether a function or block was entered when modules were imported."""
        name = self._names(path).get(line, "")
        return any(name in self._document(file).at_import for file in self._kept)

    def of_file(self, file: Path) -> list[RecordedTest]:
        """Return all tests of a file."""
        tests = self._document(file).tests.items()
        return [RecordedTest(name, file, seconds) for name, (seconds, _) in tests]

    def _document(self, file: Path) -> _Document:
        if file not in self._documents:
            self._documents[file] = _load(self._kept[file])
        return self._documents[file]


@dataclass(frozen=True)
class _Document:
    """What is kept of a file: the seconds and places of each test, a bit for each place."""

    places: list[str] = field(default_factory=list)
    tests: dict[str, tuple[float, int]] = field(default_factory=dict)
    at_import: frozenset[str] = frozenset()


class _Written:
    """What processes wrote.

    Parameters
    ----------
    names : mapping
        The names of places by file and line.
    """

    def __init__(self, names: Mapping[str, Mapping[int, str]]) -> None:
        self._names = names
        self._numbers: dict[str, int] = {}
        self._places: dict[str, int] = defaultdict(int)
        self._seconds: dict[str, float] = {}
        self._at_import = 0
        self.ended = False

    def read(self, path: Path) -> None:
        """Read the file of a process."""
        bits: list[int] = []
        starter = ""
        for line in path.read_text(encoding="utf-8").splitlines():
            match json.loads(line):
                case ["place", str(file), int(number)]:
                    name = self._names[file].get(number, "")
                    bits.append(1 << self._numbers.setdefault(name, len(self._numbers)))
                    if starter:
                        self._places[starter] |= bits[-1]
                case ["test", str(test), float(seconds), bool(failed), str(places)]:
                    self._places[test] |= _union(bits[member] for member in _members(int(places, 16)))
                    if not failed:
                        self._seconds[test] = seconds
                case ["import", str(places)]:
                    self.ended = True
                    self._at_import |= _union(bits[member] for member in _members(int(places, 16)))
                case ["started by", str(test)]:
                    starter = test

    def document(self, file: Path) -> dict[str, Any]:
        """Return what is kept of a file of tests; those that fail are left out."""
        names = list(self._numbers)
        own = [t for t in self._seconds if file.as_posix().endswith(f"/{t.partition('::')[0]}")]
        used = _union(self._places[test] for test in own)
        number = {place: at for at, place in enumerate(_members(used))}
        return {
            "places": [names[place] for place in number],
            "tests": {
                test: [
                    self._seconds[test],
                    f"{_union(1 << number[place] for place in _members(self._places[test])):x}",
                ]
                for test in own
            },
            "at import": [names[place] for place in _members(self._at_import)],
        }


def _union(sets: Iterable[int]) -> int:
    return reduce(or_, sets, 0)


def _members(bits: int) -> Iterator[int]:
    """Yield the numbers of the bits that are set."""
    while bits:
        yield (bits & -bits).bit_length() - 1
        bits &= bits - 1


def _kept_at(file: Path) -> Path:
    digest = hashlib.sha256(f"{file.name}\n".encode() + file.read_bytes()).hexdigest()
    return default_directory() / _KEPT / f"{digest}.json.gz"


def _write(path: Path, document: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_suffix(f".{os.getpid()}")
    half.write_bytes(gzip.compress(json.dumps(document).encode(), 5, mtime=0))
    half.replace(path)


def _load(path: Path) -> _Document:
    if not path.exists():
        return _Document()
    found = json.loads(gzip.decompress(path.read_bytes()))
    tests = {test: (seconds, int(places, 16)) for test, (seconds, places) in found["tests"].items()}
    return _Document(found["places"], tests, frozenset(found["at import"]))


def place_names(source: str) -> dict[int, str]:
    """Return names that other lines don't change of lines on which a function or a block of one begins.

    The block is numbered in its function.
    """
    found: dict[int, str] = {}
    for name, function in _functions(ast.parse(source), ""):
        found.setdefault(first_line(function), name)
        begun = (block[0].lineno for body in bodies(function) for block in blocks_of(body))
        for number, line in enumerate(sorted(begun)):
            found.setdefault(line, f"{name} {number}")
    return found


def _functions(node: ast.AST, inside: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    for child in ast.iter_child_nodes(node):
        name = f"{inside}{child.name}" if isinstance(child, ast.FunctionDef | ast.ClassDef) else inside
        if isinstance(child, ast.FunctionDef):
            yield name, child
        yield from _functions(child, f"{name}." if name is not inside else inside)
