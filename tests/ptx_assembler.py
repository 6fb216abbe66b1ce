"""Drives ptxas: thousands of instructions, each judged as if it stood in a module of its own."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

import pytest

from mmaproof.spec.ptx.targets import Target, Version, spell_version

PACKAGE = "nvidia-cuda-nvcc"

LINES = 40
"""Instructions in one module: ptxas stops after some hundreds of complaints."""

REGISTER_TYPES = (
    "b8", "b16", "b32", "b64", "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "f16", "f16x2", "f32",
    "f64", "pred",
)  # fmt: skip

REGISTERS = 160
"""Registers of each type: ``b32_0`` to ``b32_159``, as many as D of a warpgroup's product has, and some."""

DECLARATIONS: Mapping[str, str] = MappingProxyType(
    {f"{name}_{i}": name for name in (*REGISTER_TYPES, "b128") for i in range(REGISTERS)}
)
"""Types of the registers that modules declare; those of 128 bits since PTX 8.3."""

_COMPLAINT = re.compile(r"\.ptx, line (\d+); (error|fatal)\s*: (.*)")
"""A complaint about the source; one about ptxas' own expansion of an instruction names ``<builtin>``."""

_FUNCTION = "\n".join(
    [
        ".address_size 64",
        ".global .align 32 .b8 in_global[1024];",
        ".visible .entry kernel() {",
        ".shared .align 32 .b8 in_shared[1024];",
        *(f".reg .{name} {name}_<{REGISTERS}>;" for name in REGISTER_TYPES),
    ]
)


@dataclass(frozen=True)
class Question:
    """An instruction in a module.

    Attributes
    ----------
    text : str
        One line of PTX, with operands out of `DECLARATIONS`.
    target : Target
        The module's target.
    ptx : Version
        Its version.
    """

    text: str
    target: Target
    ptx: Version

    def __str__(self) -> str:
        return f"{self.text} [{self.target}, PTX {spell_version(self.ptx)}]"


@dataclass(frozen=True)
class Assembler:
    """A ptxas.

    Attributes
    ----------
    executable : Path
        The program.
    release : Version
        Its CUDA release.
    ptx : Version
        The newest PTX version it knows.
    """

    executable: Path
    release: Version
    ptx: Version

    def accepts(self, questions: Sequence[Question], *, generate: bool = False) -> list[str | None]:
        """Return for each question None if ptxas takes it, else its first complaint.

        Parameters
        ----------
        questions : sequence of Question
            What to ask.
        generate : bool
            Whether machine code is generated too (slow), for which some checks wait.
        """
        modules: dict[tuple[Target, Version], list[int]] = defaultdict(list)
        for number, question in enumerate(questions):
            modules[question.target, question.ptx].append(number)
        batches = [
            numbers[at : at + LINES] for numbers in modules.values() for at in range(0, len(numbers), LINES)
        ]
        answers: list[str | None] = [None] * len(questions)
        with (
            tempfile.TemporaryDirectory() as folder,
            ThreadPoolExecutor(max_workers=os.cpu_count()) as pool,
        ):

            def judge(batch: list[int]) -> Iterator[tuple[int, str]]:
                asked = [questions[number] for number in batch]
                source = Path(folder) / f"{batch[0]}.ptx"
                for place, complaint in self._judge(asked, source, generate=generate).items():
                    yield batch[place], complaint

            for complaints in pool.map(lambda batch: list(judge(batch)), batches):
                for number, complaint in complaints:
                    answers[number] = complaint
        return answers

    def _judge(self, asked: Sequence[Question], source: Path, *, generate: bool) -> dict[int, str]:
        """Return the complaints about the questions of one module, by place."""
        places = list(range(len(asked)))
        complaints: dict[int, str] = {}
        while places:
            succeeded, found = self._run([asked[place] for place in places], source, generate=generate)
            if succeeded:
                return complaints
            if not found:  # a crash, or a complaint about no line: the module or one of them is the culprit
                if about_module := _refusal(self, asked[0].target, asked[0].ptx):
                    return complaints | dict.fromkeys(places, about_module)
                if len(places) == 1:
                    return complaints | {places[0]: "ptxas failed without a line number"}
                half = len(places) // 2
                for part in (places[:half], places[half:]):
                    halved = self._judge([asked[place] for place in part], source, generate=generate)
                    complaints |= {part[place]: message for place, message in halved.items()}
                return complaints
            # A complaint ends the checks early for the lines behind it: ask again without these lines.
            complaints |= {places[place]: message for place, message in found.items()}
            places = [place for place in places if place not in complaints]
        return complaints

    def _run(self, asked: Sequence[Question], source: Path, *, generate: bool) -> tuple[bool, dict[int, str]]:
        """Compile one module; return whether it succeeded, and the first complaint about each line."""
        target, ptx = asked[0].target, asked[0].ptx
        head = _head(target, ptx)
        source.write_text(head + "".join(f"{question.text}\n" for question in asked) + "ret;\n}\n")
        finished = self.compile(source, _architecture(target, generate=generate))
        first = head.count("\n") + 1
        found: dict[int, str] = {}
        for match in _COMPLAINT.finditer(finished.stdout + finished.stderr):
            place = int(match[1]) - first
            if 0 <= place < len(asked):
                found.setdefault(place, match[3])
            elif place < 0:  # about the module: every line suffers
                found = dict.fromkeys(range(len(asked)), match[3]) | found
        return finished.returncode == 0, found

    def compile(self, source: Path, architecture: str) -> subprocess.CompletedProcess[str]:
        """Compile a file and throw away what comes of it."""
        return subprocess.run(
            [
                self.executable, "-arch", architecture, "-suppress-sparse-mma-advisory-info", source,
                "-o", os.devnull,
            ],
            capture_output=True, text=True, check=False,
        )  # fmt: skip


def _head(target: Target, ptx: Version) -> str:
    """Return a module up to its first instruction."""
    wide = f".reg .b128 b128_<{REGISTERS}>;\n" if ptx >= (8, 3) else ""
    return f".version {spell_version(ptx)}\n.target {target}\n{_FUNCTION}\n{wide}"


@cache
def _refusal(assembler: Assembler, target: Target, ptx: Version) -> str | None:
    """Return what ptxas says of a module without instructions, None if it takes that."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "empty.ptx"
        source.write_text(f"{_head(target, ptx)}ret;\n}}\n")
        finished = assembler.compile(source, _architecture(target, generate=False))
    return (finished.stderr or "ptxas failed") if finished.returncode else None


def _architecture(target: Target, *, generate: bool) -> str:
    """Return what to compile for: sm_70 and sm_72 only on later ones, sm_101 is called sm_110."""
    name = f"{ {70: 75, 72: 75, 101: 110}.get(target.number, target.number) }{target.suffix}"
    return f"{'sm' if generate else 'compute'}_{name}"


def _candidates(name: str) -> Iterator[Path]:
    if on_path := shutil.which(name):
        yield Path(on_path)
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if variable in os.environ:
            yield Path(os.environ[variable], "bin", name)
    packages = importlib.util.find_spec("nvidia")
    for folder in (packages.submodule_search_locations or ()) if packages else ():
        yield from sorted(Path(folder).glob(f"cu*/bin/{name}"))


def installed(name: str, package: str) -> Path:
    """Return a program of the CUDA toolkit; fail in CI, skip elsewhere if it is not on this machine."""
    for executable in _candidates(name):
        if executable.is_file():
            return executable
    reason = f"{name} is not installed (CUDA toolkit, or PyPI package {package})"
    if os.environ.get("CI"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


@cache
def assembler() -> Assembler:
    """Return the ptxas of this machine."""
    return _identified(installed("ptxas", PACKAGE))


def _identified(executable: Path) -> Assembler:
    """Ask a ptxas for its release and, through a version that is too high, for its newest PTX version."""
    said = subprocess.run([executable, "--version"], capture_output=True, text=True, check=True).stdout
    release = re.search(r"release (\d+)\.(\d+)", said)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "version.ptx"
        source.write_text(".version 99.9\n.target sm_90\n.address_size 64\n")
        refused = subprocess.run(
            [executable, "-arch", "compute_90", source, "-o", os.devnull],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    ptx = re.search(r"current version is '(\d+)\.(\d+)'", refused.stdout + refused.stderr)
    assert release and ptx, f"{executable}: {said!r}, {refused.stderr!r}"
    return Assembler(executable, (int(release[1]), int(release[2])), (int(ptx[1]), int(ptx[2])))
