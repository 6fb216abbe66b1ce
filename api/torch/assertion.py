"""Modules of PyTorch in tests: fails unless a module is verified."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ...spec.errors import InputError
from .outcome import TorchResult
from .verification import verify


class ModuleNotVerifiedError(AssertionError):
    """A module is not verified.

    Parameters
    ----------
    result : TorchResult
        What was found.
    """

    def __init__(self, result: TorchResult) -> None:
        lines = [f"{result.verdict}{result.scope}: {result.candidate}", result.claim, *result.findings]
        super().__init__("\n".join(lines))
        self.result = result


def assert_verified(
    reference: Path | str,
    candidate: Path | str,
    *,
    sizes: Mapping[str, int | Sequence[int]] | None = None,
    requires: Sequence[str] = (),
    mode: str | None = None,
    target: int = 80,
    allowed: Sequence[str] = (),
) -> TorchResult:
    """Verify a module, and fail unless it is verified; parameters as of `verify`.

    Parameters
    ----------
    reference, candidate, sizes, requires, mode, target
        As of `verify`.
    allowed : sequence of str
        What else is let pass: ``undecided``, ``unsupported``. A refutation never is.

    Raises
    ------
    ModuleNotVerifiedError
        If it is not verified.
    InputError
        As of `verify`; or if something else is to be allowed.
    """
    __tracebackhide__ = True  # pytest shows the test, not this function
    if wrong := sorted(set(allowed) - {"undecided", "unsupported"}):
        raise InputError(f"allowed takes undecided and unsupported, not {', '.join(wrong)}")
    result = verify(reference, candidate, sizes=sizes, requires=requires, mode=mode, target=target)
    if result.verdict not in {"verified", *allowed}:
        raise ModuleNotVerifiedError(result)
    return result
