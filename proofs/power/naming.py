"""How obligations name the instruction that they are about: by itself, or by its family."""

from __future__ import annotations

import re

from ...spec.power.forms import FORMS


def patterns(mnemonic: str) -> tuple[str, ...]:
    """Return regular expressions for the parts of ids that name an instruction, whole segments each."""
    own = re.escape(mnemonic)
    if (update := FORMS[mnemonic].update) is None:
        return (own,)
    family, word = re.escape(update.family.name), re.escape(update.mnemonic)
    found = [own, f"(?:layout|integers)/[a-z-]+/{family}", f"numerics/[a-z-]+/{word}"]
    if update.suffix in ("", "pp"):
        # loops are of these; of single forms are the sums over the reals and the lanes that are 0
        found.append(f"blocked/(?!ring|zero-lane)[a-z-]+/{family}")
    return tuple(found)
