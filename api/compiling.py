"""Source files of kernels, compiled by the user's own compiler before they are verified."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..spec.errors import InputError
from .arguments import path as given_path

CUDA = (".cu",)
C = (".c", ".cc", ".cpp", ".cxx")
FOLDER = Path("mmaproof-compiled")
"""Where compiled files are put, in the working directory."""

DEFAULT_TARGETS = {"ptx": "sm_80", "power": "power10"}
"""The processors that are compiled for where none is named, by instruction set."""

_REMEDIES = {
    "ptx": "install CUDA's toolkit, or the package nvidia-cuda-nvcc, or set NVCC",
    "power": "install gcc-powerpc64le-linux-gnu, or set POWER_CC",
}

LIMIT = 300
"""Seconds that a compiler may take."""

_MADE: dict[Path, str] = {}
"""Digests of what this process has compiled, by file.

A source that was edited since, or is compiled with other flags, gets another file: two kernels that are
compared must never be one.
"""

_SHOWN = 12
"""Lines of a compiler's complaint that a message gives."""


@dataclass(frozen=True)
class Compiled:
    """A compiled kernel.

    Attributes
    ----------
    path : Path
        The file that was made: PTX text, or an object file.
    command : str
        The command that made it, as a shell reads it.
    """

    path: Path
    command: str


def is_source(path: Path) -> bool:
    """Whether a file has to be compiled before it can be verified."""
    return path.suffix in (*CUDA, *C)


def compiled(
    source: str | Path,
    target: str | None = None,
    *,
    compiler: str | None = None,
    flags: Sequence[str] = (),
    folder: Path = FOLDER,
    apart_from: Path | None = None,
) -> Compiled:
    """Compile a source file, with line numbers: CUDA to PTX, C and C++ to an object file for Power.

    Parameters
    ----------
    source : str or Path
        The file; its suffix says the language.
    target : str, optional
        The processor, such as ``sm_90a`` or ``power10``; see `DEFAULT_TARGETS`.
    compiler : str, optional
        The compiler's program. By default nvcc: ``$NVCC``, that of ``PATH``, or that of the package
        ``nvidia-cuda-nvcc``; for Power ``$POWER_CC``, or a gcc or clang for powerpc64le.
    flags : sequence of str
        Further arguments of the compiler.
    folder : Path
        Where the compiled file is put.
    apart_from : Path, optional
        A file that stays as it is, such as one compiled before, with which the new one is compared.

    Raises
    ------
    InputError
        If there is no such compiler, or it refuses the file.
    """
    source = given_path(source, "source")
    if not source.is_file():
        raise InputError("can't be read: no such file", str(source))
    isa = "ptx" if source.suffix in CUDA else "power"
    processor = target or DEFAULT_TARGETS[isa]
    suffix = ".ptx" if isa == "ptx" else ".o"
    made = folder / _place(source) / f"{_name(source)}.{processor}{suffix}"
    text = hashlib.sha256(source.read_bytes() + repr((compiler, tuple(flags))).encode()).hexdigest()
    taken = apart_from is not None and apart_from.resolve() == made.resolve()
    if taken or _MADE.setdefault(made.resolve(), text) != text:
        made = made.with_name(f"{_name(source)}.{processor}.{text[:16]}{suffix}")
    own = (
        [f"-arch={processor}", "-lineinfo", "-ptx"]
        if isa == "ptx"
        else [f"-mcpu={processor}", "-O2", "-g", "-c"]
    )
    program = compiler or _found(isa, source)
    command = [*shlex.split(program), *own, *flags, _as_operand(source), "-o", str(made)]
    try:
        made.parent.mkdir(parents=True, exist_ok=True)
    except OSError as reason:
        raise InputError(f"{made.parent} can't be made: {reason.strerror}", str(source)) from None
    _run(command, source, made)
    return Compiled(made, shlex.join(command))


def _place(source: Path) -> Path:
    """Return the folder for what a source is compiled to, of its own for each folder of sources.

    ``new/k.cu`` and ``old/k.cu``, one compared with the other, must not be one file.
    """
    parent = source.parent.resolve()
    if parent.is_relative_to(Path.cwd()):
        return parent.relative_to(Path.cwd())
    return Path(hashlib.sha256(os.fsencode(parent)).hexdigest()[:16])


def _name(source: Path) -> str:
    """Return a source's name without its suffix, but where another language's may have that name, too."""
    return source.stem if source.suffix in (CUDA[0], C[0]) else source.name


def _as_operand(source: Path) -> str:
    """Return a path that no compiler takes for an option."""
    return f"./{source}" if str(source).startswith("-") else str(source)


def _run(command: Sequence[str], source: Path, made: Path) -> None:
    made.unlink(missing_ok=True)
    try:
        ran = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=LIMIT, check=False
        )
    except OSError as reason:
        raise InputError(f"{command[0]} can't be run: {reason.strerror}", str(source)) from None
    except subprocess.TimeoutExpired:
        raise InputError(f"{command[0]} takes more than {LIMIT} s", str(source)) from None
    if ran.returncode or not made.is_file():
        made.unlink(missing_ok=True)
        said = [line for line in f"{ran.stderr}\n{ran.stdout}".splitlines() if line.strip()]
        errors = [line for line in said if "error" in line.lower()] or said or [f"status {ran.returncode}"]
        raise InputError(f"{shlex.join(command)} fails: {'; '.join(errors[:_SHOWN])}", str(source))


def _found(isa: str, source: Path) -> str:
    """Return the compiler for an instruction set."""
    candidates = [
        compiler for compiler in (_nvcc() if isa == "ptx" else _power_compilers(source)) if compiler
    ]
    if candidates:
        return candidates[0]
    raise InputError(f"no compiler found: {_REMEDIES[isa]}, or give --compiler", str(source))


def _nvcc() -> Iterator[str | None]:
    yield os.environ.get("NVCC")
    yield shutil.which("nvcc")
    for entry in sys.path:
        yield from map(str, sorted(Path(entry or ".").glob("nvidia/*/bin/nvcc")))


def _power_compilers(source: Path) -> Iterator[str | None]:
    yield os.environ.get("POWER_CC")
    front, other = ("gcc", "clang") if source.suffix == ".c" else ("g++", "clang++")
    versions = ("", *(f"-{version}" for version in range(16, 9, -1)))
    for version in versions:
        yield shutil.which(f"powerpc64le-linux-gnu-{front}{version}")
    for version in ("", *(f"-{version}" for version in range(22, 13, -1))):
        if shutil.which(f"{other}{version}"):
            yield f"{other}{version} --target=powerpc64le-linux-gnu"
