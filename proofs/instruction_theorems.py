"""Which theorems are about an instruction: those with an obligation whose id names it."""

from __future__ import annotations

import re
from importlib import import_module

from .catalogue import theorems
from .obligation import Theorem
from .pinned import pinned


def about(isa: str, mnemonic: str) -> dict[Theorem, list[str]]:
    """Return the ids of the obligations that name an instruction, by theorem.

    An id names it by a segment, or as the module `NAMING` of the instruction set's theorems says. The ids
    are the pinned ones: no obligation is built.
    """
    package = import_module(f".{isa}", __package__)
    named = (re.escape(mnemonic),)
    if (naming := getattr(package, "NAMING", None)) is not None:
        named = import_module(f".{naming}", package.__name__).patterns(mnemonic)
    pattern = re.compile(f"/(?:{'|'.join(named)})(?=/|$)")
    ids = [each for each in pinned() if each.startswith(f"{isa}/") and pattern.search(each)]
    found = {
        theorem: [each for each in ids if each.startswith(theorem.id + "/")]
        for theorem in theorems((f"{isa}/",))
    }
    return {theorem: members for theorem, members in found.items() if members}
