"""Drives llvm-mc, the oracle of what AMD's assembler takes and how it encodes it."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Sequence
from random import Random

from required_tools import required_tool

from mmaproof.spec.mfma.catalogue import BY_NAME
from mmaproof.spec.mfma.targets import Target

TARGETS = ("gfx908", "gfx90a", "gfx940", "gfx941", "gfx942")
"""What LLVM 19 knows of the targets; gfx950 and gfx9-4-generic came with LLVM 20."""


def assembled(lines: Sequence[str], target: str) -> list[int | None]:
    """Return the word of each line, None for a line that is refused."""
    tool = required_tool("llvm-mc-19", package="llvm-19")
    command = [tool, "-triple=amdgcn", f"-mcpu={target}", "-show-encoding"]
    text = "".join(f"{line}\n" for line in lines)
    finished = subprocess.run(command, input=text, capture_output=True, text=True, timeout=300, check=False)
    refused = {int(number) - 1 for number in re.findall(r"^<stdin>:(\d+):\d+: error", finished.stderr, re.M)}
    codes = re.findall(r"encoding: \[([0-9a-fx,]+)\]", finished.stdout)
    words = (int.from_bytes(bytes(int(byte, 16) for byte in code.split(",")), "little") for code in codes)
    assert len(codes) == len(lines) - len(refused)
    return [None if place in refused else next(words) for place in range(len(lines))]


def random_lines(rng: Random, target: Target, count: int) -> Iterator[str]:
    """Yield lines of which about half are right, each wrong one in one or two ways."""
    names = [name for name, rows in BY_NAME.items() if target.name in rows]
    for _ in range(count):
        faults = rng.choice((0, 0, 0, 1, 1, 2))
        name = rng.choice(names if faults == 0 else list(BY_NAME))
        row = BY_NAME[name].get(target.name, next(iter(BY_NAME[name].values())))
        spoiled = rng.sample("dabc", k=min(faults, 1)) if rng.random() < 0.7 else []
        result = "a" if not target.unified_registers else rng.choice("va")
        operands = {}
        for operand in "dabc":
            count_of = row.registers(operand)
            first = 2 * rng.randrange(0, (256 - count_of) // 2 + 1)
            file = result if operand in "cd" else rng.choice("va")
            if operand == "c" and rng.random() < 0.5:
                first = operands["d"][1]
            if operand in spoiled:
                change = rng.randrange(5)
                first += (change == 0) * rng.choice((1, 2, 3)) + (change == 1) * 256
                count_of = rng.choice((1, 2, 4, 8, 16, 32)) if change == 2 else count_of
                file = rng.choice("vas") if change == 3 else file
            operands[operand] = (file, first, count_of)
        texts = {
            operand: f"{file}{first}" if size == 1 else f"{file}[{first}:{first + size - 1}]"
            for operand, (file, first, size) in operands.items()
        }
        if rng.random() < 0.2 and (target.unified_registers or faults):
            texts["c"] = rng.choice(
                ("0", "1", "64", "-16", "0.5", "-4.0", "0x3f800000", "0.15915494309189532")
            )
        if faults and rng.random() < 0.2:
            texts[rng.choice("abc")] = rng.choice(("65", "0", "1.5", "-17", "1.0"))
        modifiers = ""
        if rng.random() < 0.5:
            most = {"cbsz": 7 + (faults > 0), "abid": 15 + (faults > 0), "blgp": 7 + (faults > 0)}
            given = [name for name in most if rng.random() < 0.5]
            modifiers = " ".join(f"{name}:{rng.randint(0, most[name])}" for name in given)
            if rng.random() < 0.3:
                modifiers = f"neg:[{rng.randint(0, 1)},{rng.randint(0, 1)},{rng.randint(0, 1)}]"
        yield f"{name} {', '.join(texts[operand] for operand in 'dabc')} {modifiers}".strip()
