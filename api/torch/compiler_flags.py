"""Flags with which extensions are compiled: what changes the meaning of a source is passed on, or refused."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .recording import NotRecordedError

_KEPT = re.compile(
    r"-D|-U|--?use_fast_math|--?fmad|--?ftz|--?prec-|--?std|-O\d|--expt|--extended|-maxrregcount|--maxrregcount"
)

_MACROS = re.compile(
    r"--?(?:define-macro|undefine-macro|pre-include|include|imacros|options-file|optf)\b|.*=-[DU]"
)
"""Flags by which a source may become another one, in spellings that are not passed on."""


def kept_flags(flags: Sequence[str]) -> list[str]:
    """Return the flags that change what a source means; others are about speed, warnings and libraries.

    Raises
    ------
    NotRecordedError
        If there is one that may change it in a spelling that is not passed on.
    """
    kept: list[str] = []
    for flag in flags:
        if kept and kept[-1] in ("-D", "-U"):
            kept[-1] += flag
        elif _KEPT.match(flag):
            kept.append(flag)
        elif _MACROS.match(flag):
            raise NotRecordedError(
                f"the extension is compiled with {flag}; macros are allowed as -D and -U only"
            )
    return kept
