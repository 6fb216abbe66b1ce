"""What was found before: solvers' answers by the text of the query, verdicts and texts by the code's state.

An *answer* is kept under the SHA-256 of the query's normalised text with the solver's name and version,
so it can be used wherever the same formula comes up. A *verdict* is kept under the obligation's id and
a fingerprint of everything that a verdict is a function of (see `fingerprint`), which saves building the
formula and even importing a solver. A *text* is what a function of the code alone returned, under its
name and `code_state`. ``unknown`` is never kept, and no error either: both can be a matter of
time and memory. Each row carries a digest of what it says; a row that does not match it says nothing.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..spec.errors import InputError
from .code_state import code_state
from .obligation import Status
from .verdict import Verdict

if TYPE_CHECKING:
    from ..smt.solvers import Answer, Query, Solver

FILE = "proofs-3.sqlite3"
"""Name of the database; the number is its schema's."""

LIFETIME_DAYS = 90
"""Age at which entries are dropped."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS answers (
    key TEXT PRIMARY KEY, status TEXT NOT NULL, model TEXT NOT NULL, digest TEXT NOT NULL,
    created REAL NOT NULL DEFAULT (julianday('now'))
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS verdicts (
    fingerprint TEXT NOT NULL, id TEXT NOT NULL, verdict TEXT NOT NULL, digest TEXT NOT NULL,
    created REAL NOT NULL DEFAULT (julianday('now')),
    PRIMARY KEY (fingerprint, id)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS texts (
    state TEXT NOT NULL, name TEXT NOT NULL, text TEXT NOT NULL, digest TEXT NOT NULL,
    created REAL NOT NULL DEFAULT (julianday('now')),
    PRIMARY KEY (state, name)
) WITHOUT ROWID;
"""


def default_directory() -> Path:
    """Return ``$MMAPROOF_CACHE``, or the user's cache directory of this platform."""
    if chosen := os.environ.get("MMAPROOF_CACHE"):
        return Path(chosen)
    from platformdirs import user_cache_path

    return user_cache_path("mmaproof", appauthor=False)


def fingerprint(solver: str) -> str:
    """Return a digest of everything that a definite verdict on a catalogue's obligation depends on.

    An obligation of the catalogue has no input but the code: its formula, its sampling seeds and its
    certificates are functions of the files in `code_state.DECIDING`, of the libraries that they compute with,
    and of the solver asked. With all of these equal, deciding again would give the same answer; only whether
    it comes in time can differ, and what did not come in time is not kept.

    Parameters
    ----------
    solver : str
        The solver chosen (one of `portfolio.CHOICES`).
    """
    return hashlib.sha256(f"{solver}\n{code_state()}".encode()).hexdigest()


class Cache:
    """A database of answers and verdicts, shared by any number of processes.

    A damaged file is replaced by an empty one. A cache that fails later (a full disk, say) forgets
    instead of stopping the proof.

    Parameters
    ----------
    directory : Path
        Where the database is; made when missing.

    Raises
    ------
    InputError
        If the directory can't be made or written.
    """

    def __init__(self, directory: Path) -> None:
        self.path = directory / FILE
        try:
            directory.mkdir(parents=True, exist_ok=True)
            self._connection = self._opened()
        except (OSError, sqlite3.OperationalError) as reason:
            advice = "set MMAPROOF_CACHE to another directory, or use --no-cache"
            raise InputError(f"the cache can't be used ({reason}); {advice}", str(self.path)) from reason

    def _opened(self) -> sqlite3.Connection:
        try:
            return self._connected()
        except sqlite3.DatabaseError as reason:
            if not _damaged(reason):
                raise
        return self._replaced()

    def _replaced(self) -> sqlite3.Connection:
        for suffix in ("", "-wal", "-shm"):
            self.path.with_name(FILE + suffix).unlink(missing_ok=True)
        return self._connected()

    def _connected(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=30, isolation_level=None)
        try:
            with suppress(sqlite3.OperationalError):  # another process is at it
                connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.executescript(_SCHEMA)
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def close(self) -> None:
        """Close the database."""
        self._connection.close()

    def _execute(self, statement: str, *parameters: str | float) -> list[Any]:
        try:
            return self._connection.execute(statement, parameters).fetchall()
        except sqlite3.DatabaseError as reason:
            if _damaged(reason):
                self._connection.close()
                self._connection = self._replaced()
            return []

    def answer(self, query: Query, solver: str) -> Answer | None:
        """Return what `solver` (name and version) answered to a query, None when it is not known."""
        from ..smt.solvers import Answer

        key = _key(query, solver)
        for status, model, digest in self._execute(
            "SELECT status, model, digest FROM answers WHERE key = ?", key
        ):
            if digest == _digest(key, status, model):
                return Answer(status, solver, json.loads(model), cached=True)
        return None

    def keep_answer(self, query: Query, answer: Answer) -> None:
        """Remember a definite answer."""
        if answer.status != "unknown":
            row = _key(query, answer.solver), answer.status, json.dumps(dict(answer.model))
            self._execute(
                "INSERT OR REPLACE INTO answers (key, status, model, digest) VALUES (?, ?, ?, ?)",
                *row,
                _digest(*row),
            )

    def verdicts(self, state: str, wanted: str | None = None) -> dict[str, Verdict]:
        """Return the verdicts found under a fingerprint, by obligation id: all, or the one that is wanted."""
        query, given = "SELECT id, verdict, digest FROM verdicts WHERE fingerprint = ?", [state]
        if wanted is not None:
            query, given = f"{query} AND id = ?", [state, wanted]
        rows = self._execute(query, *given)
        found = (
            Verdict.of_document(json.loads(text))
            for identifier, text, digest in rows
            if digest == _digest(state, identifier, text)
        )
        return {verdict.id: replace(verdict, seconds=0.0, cached=True) for verdict in found}

    def keep_verdict(self, state: str, verdict: Verdict) -> None:
        """Remember a definite verdict."""
        if verdict.status in (Status.PROVED, Status.REFUTED):
            row = state, verdict.id, json.dumps(verdict.document())
            self._execute(
                "INSERT OR REPLACE INTO verdicts (fingerprint, id, verdict, digest) VALUES (?, ?, ?, ?)",
                *row,
                _digest(*row),
            )

    def text(self, state: str, name: str) -> str | None:
        """Return the text of a name that was kept in a state of the code, None when there is none."""
        rows = self._execute("SELECT text, digest FROM texts WHERE state = ? AND name = ?", state, name)
        return next((text for text, digest in rows if digest == _digest(state, name, text)), None)

    def keep_text(self, state: str, name: str, text: str) -> None:
        """Remember a text."""
        self._execute(
            "INSERT OR REPLACE INTO texts (state, name, text, digest) VALUES (?, ?, ?, ?)",
            *(state, name, text),
            _digest(state, name, text),
        )

    def prune(self) -> None:
        """Drop what is older than `LIFETIME_DAYS`."""
        for table in ("answers", "verdicts", "texts"):
            self._execute(f"DELETE FROM {table} WHERE created < julianday('now') - ?", LIFETIME_DAYS)


class Remembering:
    """A solver that looks in the cache first.

    Parameters
    ----------
    solver : Solver
        Who is asked when the cache does not know.
    cache : Cache
        Where answers are looked up and kept.
    """

    def __init__(self, solver: Solver, cache: Cache) -> None:
        self.name = solver.name
        self._solver = solver
        self._cache = cache

    def check(self, query: Query, timeout: float) -> Answer:
        """Answer a query; see `Solver.check`."""
        known = self._cache.answer(query, self.name)
        if known is not None:
            return known
        answer = self._solver.check(query, timeout)
        self._cache.keep_answer(query, answer)
        return answer


def remembering(solvers: Sequence[Solver], cache: Cache | None) -> Sequence[Solver]:
    """Return the solvers, with a cache in front of each when there is one."""
    return solvers if cache is None else [Remembering(solver, cache) for solver in solvers]


def _key(query: Query, solver: str) -> str:
    return hashlib.sha256(f"{solver}\n{query.text}".encode()).hexdigest()


def _digest(*fields: object) -> str:
    """Return the digest that a row carries; somebody else may have written fields of any type."""
    return hashlib.sha256(repr(fields).encode("utf-8", "backslashreplace")).hexdigest()


def _damaged(reason: sqlite3.Error) -> bool:
    code = getattr(reason, "sqlite_errorcode", sqlite3.SQLITE_OK) & 0xFF
    return code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
