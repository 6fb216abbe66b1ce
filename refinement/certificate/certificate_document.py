"""The document of a certificate: whose it is, what it takes for granted, and its sections."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from ...spec.errors import InputError
from ..recheck.document import SCHEMA, RefusedError


def certificate_document(
    files: Mapping[str, str | None],
    equality: str,
    hypotheses: Sequence[str],
    sections: Sequence[Mapping[str, Any]],
    reasons: Sequence[str],
) -> dict[str, Any]:
    """Return the document.

    Parameters
    ----------
    files : mapping of str to str
        The paths of the kernel, the contract and the kernel that it is compared with.
    equality : str
        The weakest that an output needed: ``bits`` or ``value``.
    hypotheses : sequence of str
        What the verdict takes for granted.
    sections : sequence of mapping
        What is shown at each set of sizes, in each case of scalars.
    reasons : sequence of str
        What else it rests on.
    """
    named = {
        name: {"file": Path(path).name, "sha256": sha256(Path(path).read_bytes()).hexdigest()}
        for name, path in files.items()
        if path is not None
    }
    return {
        "certificate": SCHEMA,
        **named,
        "equality": equality,
        "hypotheses": list(hypotheses),
        "sections": list(sections),
        "open": list(reasons),
    }


def rows_of(sections: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Return how many instances of each row sections have, by name."""
    applied = (row for section in sections for step in section["steps"] for row in step["rows"])
    return dict(sorted(Counter(row.removeprefix("-") for row in applied).items()))


def encoded(document: Mapping[str, Any], *, compressed: bool) -> bytes:
    """Return a document as the bytes of a file; the same document gives the same bytes."""
    data = (json.dumps(document, separators=(",", ":")) + "\n").encode()
    return gzip.compress(data, mtime=0) if compressed else data


def check_digest(document: Mapping[str, Any], name: str, path: Path) -> None:
    """Check that a certificate is of a file.

    Raises
    ------
    InputError
        If the file can't be read.
    RefusedError
        If it is of another one.
    """
    try:
        digest = sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror}", str(path)) from error
    stated = document.get(name)
    if not isinstance(stated, dict) or stated.get("sha256") != digest:
        raise RefusedError(f"the certificate is not of the {name} {path}")
