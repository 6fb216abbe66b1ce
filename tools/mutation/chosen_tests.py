"""Which tests are worth a run on a fault, the nearest and cheapest first.

Nearest are the tests that execute the block at fault. What is executed when a module is imported, every test
executes: there those come first that execute a function which reads what the statement binds, or whose own
file reads it, then those that read what such statements bind, and so on; last, what executes anything of the
module.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from .blocks import first_line
from .names import bound_at, readers
from .recorded_tests import RecordedTest, RecordedTests
from .source_faults import Fault

_FURTHER = 3
"""So many times what reads a name may bind another one that is read."""

BATCHES = ((8, 10.0), (48, 40.0), (1000, 70.0))
"""How many files of tests, and seconds of them, run at a time: reading files costs time as well."""


class ChosenTests:
    """Chooses tests.

    Parameters
    ----------
    recorded : RecordedTests
        What they execute.
    specification : sequence of Path
        The modules of the specification.
    files : sequence of Path
        The files of tests.
    """

    def __init__(self, recorded: RecordedTests, specification: Sequence[Path], files: Sequence[Path]) -> None:
        self._recorded = recorded
        sources = {str(path): path.read_text(encoding="utf-8") for path in specification}
        self._trees = {file: ast.parse(text) for file, text in sources.items()}
        self._readers = readers(sources)
        self._read_by = readers({str(path): path.read_text(encoding="utf-8") for path in files})

    def of(self, path: Path, fault: Fault) -> list[RecordedTest]:
        """Return the tests that may notice a fault in a module, in the order in which they should run."""
        found: dict[RecordedTest, int] = {}
        for distance, tests in enumerate(self._by_distance(path, fault)):
            for test in tests:
                found.setdefault(test, distance)
        order = sorted(found, key=lambda test: (found[test], test.seconds, test.name))
        seen: dict[tuple[int, str], int] = defaultdict(int)
        rank = {}
        for test in order:
            function = (found[test], test.name.partition("[")[0])
            rank[test] = (found[test], seen[function], test.seconds)
            seen[function] += 1
        return sorted(order, key=rank.__getitem__)

    def _by_distance(self, path: Path, fault: Fault) -> Iterator[Iterable[RecordedTest]]:
        names: set[str] = set()
        if fault.block:
            yield self._recorded.entering([(path, fault.block)])
            if self._recorded.at_import(path, fault.block):
                names = {_name_of(fault.module, fault.function)}
        else:
            statement, bound = bound_at(fault.module, fault.line)
            names = {*bound, *_fields(fault.module, statement)}
        if not names:
            return
        asked: set[str] = set()
        for _ in range(_FURTHER):
            asked |= names
            yield self._reading(names)
            names = set(self._bound_further(names)) - asked
        yield self._recorded.entering_module(path)

    def _reading(self, names: Collection[str]) -> Iterator[RecordedTest]:
        found = {reader for name in names for reader in self._readers.get(name, ())}
        yield from self._recorded.entering((Path(r.file), r.function) for r in found if r.function)
        for file in sorted({reader.file for name in names for reader in self._read_by.get(name, ())}):
            yield from self._recorded.of_file(Path(file))

    def _bound_further(self, names: Collection[str]) -> Iterator[str]:
        """Yield the names that are bound, when modules are imported, by what reads some."""
        for reader in {reader for name in names for reader in self._readers.get(name, ())}:
            tree = self._trees[reader.file]
            if not reader.function:
                statement, bound = bound_at(tree, reader.statement)
                yield from (*bound, *_fields(tree, statement))
            elif self._recorded.at_import(Path(reader.file), reader.function):
                yield _name_of(tree, reader.function)


def batches(tests: Sequence[RecordedTest]) -> Iterator[list[RecordedTest]]:
    """Yield tests to run at a time, few of few files at first."""
    waiting = list(tests)
    for most, seconds in BATCHES:
        files: set[Path] = set()
        chosen, later, spent = [], [], 0.0
        for test in waiting:
            if spent + test.seconds <= seconds and (test.file in files or len(files) < most):
                files.add(test.file)
                spent += test.seconds
                chosen.append(test)
            else:
                later.append(test)
        if chosen:
            yield chosen
        waiting = later


def _name_of(tree: ast.Module, line: int) -> str:
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    return next(function.name for function in functions if first_line(function) == line)


def _fields(tree: ast.Module, line: int) -> Iterator[str]:
    """Yield what the class that begins on a line binds in its body."""
    for statement in tree.body:
        if isinstance(statement, ast.ClassDef) and statement.lineno == line:
            for inner in statement.body:
                targets = inner.targets if isinstance(inner, ast.Assign) else [getattr(inner, "target", None)]
                yield from (target.id for target in targets if isinstance(target, ast.Name))
