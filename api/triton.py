"""Kernels of Triton: compiled for a target, without a GPU, and verified."""

from __future__ import annotations

import inspect
import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..spec.errors import InputError
from .kernels import contract as draft_of_file
from .kernels import verify as verify_file
from .triton_launch import launch_grid

if TYPE_CHECKING:
    from ..reports.verify_report import VerifyReport

WARP = 32


def compiled(
    kernel: Any,
    signature: Mapping[str, str],
    constants: Mapping[str, Any],
    folder: Path | str,
    *,
    target: int = 80,
    options: Mapping[str, Any] | None = None,
    attributes: Mapping[tuple[int, ...], list[list[Any]]] | None = None,
) -> Path:
    """Compile a kernel to PTX; what Triton's cache keeps beside it is written beside it.

    So is the grid, if the module that defines the kernel launches it: ``kernel[grid](…)``.

    Parameters
    ----------
    kernel : triton.JITFunction
        A function under ``@triton.jit``.
    signature : mapping of str to str
        The type of each parameter: ``*fp16``, ``i32``, ``constexpr``.
    constants : mapping of str to object
        The values of those that are ``constexpr``.
    folder : Path or str
        Where ``NAME.ptx`` and ``NAME.json`` go; it is made if it is not there.
    target : int
        The compute capability: 80, 89, 90, 120.
    options : mapping, optional
        ``num_warps``, ``num_stages`` and other options of the compiler.
    attributes : mapping, optional
        As Triton takes them: ``{(0,): [["tt.divisibility", 16]]}``.

    Returns
    -------
    Path
        The PTX.

    Raises
    ------
    InputError
        If Triton is not installed, or does not compile the kernel, or the folder can't be written.
    """
    try:
        import triton
        from triton.backends.compiler import GPUTarget
        from triton.compiler import ASTSource
    except ImportError as reason:
        raise InputError(f"kernels of Triton need Triton: {reason}") from None
    source = ASTSource(kernel, dict(signature), constexprs=dict(constants), attrs=dict(attributes or {}))
    try:
        built = triton.compile(source, target=GPUTarget("cuda", target, WARP), options=dict(options or {}))
    except Exception as reason:  # Triton raises what its passes raise
        said = " ".join(str(reason).split()) or type(reason).__name__
        raise InputError(f"Triton does not compile {kernel.__name__}: {said}") from reason
    place = Path(folder) / f"{kernel.__name__}.ptx"
    told = {"signature": dict(signature), "grid": _grid(kernel, signature, constants)}
    facts = json.dumps({**built.metadata._asdict(), **told}, default=str)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(built.asm["ptx"], encoding="utf-8")
        place.with_suffix(".json").write_text(facts, encoding="utf-8")
    except OSError as reason:
        raise InputError(f"can't be written: {reason.strerror or reason}", str(folder)) from None
    return place


def _grid(kernel: Any, parameters: Mapping[str, str], constants: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the grid that the module which defines a kernel launches it with; none if it does not say."""
    function = getattr(kernel, "fn", kernel)
    try:
        source = inspect.getsource(inspect.getmodule(function) or function)
    except (OSError, TypeError):
        return ()
    return launch_grid(source, function.__name__, tuple(parameters), constants)


def verify(
    kernel: Any,
    signature: Mapping[str, str],
    constants: Mapping[str, Any],
    contract: Path | str,
    *,
    target: int = 80,
    options: Mapping[str, Any] | None = None,
    attributes: Mapping[tuple[int, ...], list[list[Any]]] | None = None,
    choices: str | Sequence[str] = (),
) -> VerifyReport:
    """Compile a kernel, and verify it against a contract.

    Parameters
    ----------
    kernel, signature, constants, target, options, attributes
        As of `compiled`.
    contract : Path or str
        The contract's file. `draft` returns one to complete.
    choices : str or sequence of str
        As of `mmaproof.verify`.

    Raises
    ------
    InputError
        As of `compiled` and `mmaproof.verify`.
    """
    with tempfile.TemporaryDirectory() as folder:
        ptx = compiled(
            kernel, signature, constants, folder, target=target, options=options, attributes=attributes
        )
        return verify_file(ptx, contract, choices=choices)


def draft(
    kernel: Any,
    signature: Mapping[str, str],
    constants: Mapping[str, Any],
    *,
    target: int = 80,
    options: Mapping[str, Any] | None = None,
    attributes: Mapping[tuple[int, ...], list[list[Any]]] | None = None,
) -> str:
    """Return the text of a contract to complete for a kernel, with the grid of its launch.

    Parameters are those of `compiled`.
    """
    with tempfile.TemporaryDirectory() as folder:
        ptx = compiled(
            kernel, signature, constants, folder, target=target, options=options, attributes=attributes
        )
        return draft_of_file(ptx, from_triton=ptx.with_suffix(".json"))


contract = draft
"""The name that `draft` had before."""
