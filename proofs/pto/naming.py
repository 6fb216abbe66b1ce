"""How obligations name the operation that they are about: by itself, or as a move out of the accumulator."""

from __future__ import annotations

import re

from .numerics import MOVES, narrowed


def patterns(mnemonic: str) -> tuple[str, ...]:
    """Return regular expressions for the parts of ids that name an operation, whole segments each."""
    own = re.escape(mnemonic)
    return (own, narrowed.id.removeprefix("pto/")) if mnemonic in MOVES else (own,)
