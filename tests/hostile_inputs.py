"""Command lines with files and arguments that somebody damaged, or made to do harm; all from one seed."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

KERNEL = """.version 8.4
.target sm_80
.address_size 64
.visible .entry scaled(.param .u64 pa, .param .u64 pc, .param .u32 pn, .param .f32 ps)
.maxntid 32, 1, 1
{
.reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<5>;
.shared .align 4 .b8 tile[128];
ld.param.u64 %rd1, [pa];
ld.param.u64 %rd2, [pc];
ld.param.u32 %r1, [pn];
ld.param.f32 %f3, [ps];
mov.u32 %r2, %tid.x;
setp.ge.s32 %p1, %r2, %r1;
@%p1 bra $done;
mul.wide.u32 %rd3, %r2, 4;
add.s64 %rd4, %rd1, %rd3;
ld.global.f32 %f1, [%rd4];
shl.b32 %r3, %r2, 2;
mov.u32 %r4, tile;
add.s32 %r5, %r4, %r3;
st.shared.f32 [%r5], %f1;
ld.shared.f32 %f2, [%r5];
mul.rn.f32 %f4, %f2, %f3; // as the contract says
add.s64 %rd5, %rd2, %rd3;
st.global.f32 [%rd5], %f4;
$done:
ret;
}
"""

CONTRACT = """[kernel]
isa = "ptx"
entry = "scaled"
target = "sm_80"

[launch]
grid = [1, 1, 1]
block = 32

[sizes]
N = 8

[[param]]
name = "A"
type = "f32"
shape = ["N"]

[[param]]
name = "C"
type = "f32"
shape = ["N"]
access = "out"

[[param]]
name = "n"
type = "s32"
value = "N"

[[param]]
name = "alpha"
type = "f32"

[ensures]
equality = "value"
formula = "C[i] = alpha * A[i]"
"""

INSTRUCTIONS = (
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, {%r5,%r6}, "
    "{%f1,%f2,%f3,%f4};",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32",
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1,%r2,%r3,%r4}, [%r5+16];",
    "wmma.load.a.sync.aligned.row.m16n16k16.f16",
    "pmxvf16ger2pp a0,vs34,vs35,15,15,3",
    "xvf32ger",
    "%c = tmatmul %a, %b : (!pto.tile<16x32xf16>, !pto.tile<32x16xf16>) -> !pto.tile<16x16xf32>",
)

TABLE = {
    "isa": "ptx",
    "rows": [
        {"instruction": "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "target": "sm_80"},
        {"shape": "m16n8k8", "a": "tf32", "b": "tf32", "d": "f32", "target": "sm_80", "ptx": 7.0},
        {"instruction": "xvf32gerpp", "isa": "power", "target": "power10", "legal": True},
    ],
}

LINES = "instruction,target,legal\nmma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32,sm_80,true\n"

SETTINGS = '[gate]\nallow = "accepted.toml"\n\n[[gate.table]]\nfile = "table.csv"\ncomplete = false\n'

ACCEPTED = '[[allow]]\nfinding = "gate/no-such-rule: *"\nreason = "known"\nexpires = 2099-01-01\n'

MODULE = """module {
  func.func @gemm(%a: !pto.tile<16x32xf16>, %b: !pto.tile<32x16xf16>) {
    %c = tmatmul %a, %b : (!pto.tile<16x32xf16>, !pto.tile<32x16xf16>) -> !pto.tile<16x16xf32>
    return
  }
}
"""

KNOWN = "power/encoding/reserved-ignored/xvbf16ger2"

OBLIGATION = {
    "schema": 1,
    "kind": "obligation",
    "obligation": KNOWN,
    "inputs": {"word": {"format": "u32", "shape": [], "bits": ["0x1"], "values": ["1"]}},
    "difference": {"label": "word", "index": [], "left": "1", "right": "2"},
}

REPLAYED = {
    "schema": 1,
    "kind": "kernel",
    "kernel": "kernel.ptx",
    "contract": "contract.toml",
    "sizes": {"N": 8},
    "inputs": {
        "A": {"format": "f32", "shape": [8], "bits": ["0x3f800000"] * 8},
        "alpha": {"format": "f32", "shape": [], "bits": ["0x40000000"]},
    },
    "difference": {"output": "C[3]", "kernel": "2.0", "contract": "2.0"},
    "bound": 0.0,
    "tolerance": 0.0,
}

FILES: Mapping[str, str] = {
    "kernel.ptx": KERNEL,
    "contract.toml": CONTRACT,
    "table.json": json.dumps(TABLE, indent=1),
    "lines.jsonl": "\n".join(json.dumps(row) for row in TABLE["rows"]),
    "table.csv": LINES,
    "mmaproof.toml": SETTINGS,
    "accepted.toml": ACCEPTED,
    "module.pto": MODULE,
    "obligation.json": json.dumps(OBLIGATION),
    "replayed.json": json.dumps(REPLAYED),
    "layout.csv": "lane,element,row,column\n0,0,0,0\n0,1,0,1\n",
    "layout.json": '[{"lane": 0, "element": 0, "row": 0, "column": 0}]',
}

ARCHIVES = {
    "power.npz": {"x": (4, 1), "y": (4, 1), "acc": (4, 4)},
    "ptx.npz": {"a": (16, 16), "b": (16, 8), "c": (16, 8)},
}
"""Operands of the instructions that `_run` executes."""

OPERANDS = {"xvf32ger": ("x", "y", "acc"), INSTRUCTIONS[2]: ("a", "b", "c", "d")}

TOKENS = (
    "0", "-1", "1e400", "-0", "99999999999999999999", "1" * 5000, "NaN", "Infinity", "null", "true", '""',
    "[]",
    "{}", "[" * 3000, '{"a":' * 3000, "(" * 3000, "sum(k, " * 40, "1e-400", "0x", "0xffffffffffffffffff",
    "\x1b[31m", "\x00", "\x85", "\u202e", "\udcff", "\\ud800", "é",
    "'" * 3, '"' * 3, "\n", "\r", "\t", "/*", "//", "#",
    ";", "}", "{", "%", "::error::x", "2147483648", "65536", "-9223372036854775809", "1_000", "../../..", "~",
    "s4", "f64", "ue8m0", "e4m3", "bf16", "N", "k", "i", "C", "A",
    "alpha", "values", "strides", "@kernel.ptx",
    "sm_999a", "power99", "x" * 3000, "a.b.c", "*", "**", "if", "=", "==", "..", "[[param]]", "[sizes]",
    "grid = [4000000000, 1, 1]", "block = 0", "shape = [100000000, 100000000]", "bra $done;", "ret;",
)  # fmt: skip
"""What is put into files and arguments."""

RESULTS = ("--json", "--junit", "--sarif", "--html")


class Hostile:
    """Draws command lines, and writes the files that they name.

    Parameters
    ----------
    seed : int
        The same seed draws the same command lines.
    folder : Path
        Where the files are written.
    """

    def __init__(self, seed: int, folder: Path) -> None:
        self._random = random.Random(seed)
        self._folder = folder

    def __call__(self) -> tuple[list[str], bytes]:
        """Return the arguments of a command, and its standard input."""
        draw = self._random
        self._write_files()
        name, command = draw.choice(list(self._commands.items()))
        arguments, stdin = command(self)
        if draw.random() < 0.15:
            arguments.insert(draw.randrange(len(arguments) + 1), draw.choice(TOKENS))
        if draw.random() < 0.1 and arguments and name != "check":  # without a pattern it proves everything
            del arguments[draw.randrange(len(arguments))]
        return [name, *(argument.replace("\0", "") for argument in arguments)], stdin

    def _write_files(self) -> None:
        """Write every file afresh; one of them, or all, are damaged."""
        chosen = self._random.choice([*FILES, "contract.toml", "kernel.ptx", "", "all"])
        for name, text in FILES.items():
            damaged = chosen in (name, "all")
            content = text.encode() if not damaged else self._damaged(text)
            (self._folder / name).write_bytes(content)
        for name, shapes in ARCHIVES.items():
            path = self._folder / name
            np.savez(path, **{operand: self._array(shape) for operand, shape in shapes.items()})
            if self._random.random() < 0.3:
                path.write_bytes(self._flipped(path.read_bytes()))

    def _array(self, shape: tuple[int, ...]) -> np.ndarray:
        draw = self._random
        if draw.random() < 0.8:
            return np.ones(shape)
        shape = draw.choice([shape[::-1], (), (0, *shape), shape[:1], (2, *shape), (0, 0)])
        kind = draw.choice(["f2", "f4", "f8", "i1", "u8", "u4", "c16", "?", "M8[s]", "U3", "S2", "V4"])
        return np.full(shape, draw.choice([0, 1, 255])).astype(kind)

    def _flipped(self, content: bytes) -> bytes:
        damaged = bytearray(content)
        for _ in range(self._random.choice([1, 3, 10])):
            damaged[self._random.randrange(len(damaged))] = self._random.randrange(256)
        return bytes(damaged[: self._random.choice([len(damaged), self._random.randrange(len(damaged))])])

    def damaged_text(self, text: str) -> str:
        """Return a text with something put in, taken out, doubled, or replaced."""
        draw = self._random
        for _ in range(draw.choice([1, 1, 2, 4])):
            here = draw.randrange(len(text) + 1)
            there = min(len(text), here + draw.choice([0, 1, 3, 10, 60]))
            match draw.randrange(5):
                case 0:
                    text = text[:here] + draw.choice(TOKENS) + text[there:]
                case 1:
                    text = text[:here] + text[there:]
                case 2:
                    text = text[:there] + text[here:]
                case 3:
                    text = self._value_replaced(text)
                case 4:
                    lines = text.splitlines(keepends=True)
                    if lines:
                        at = draw.randrange(len(lines))
                        lines.insert(draw.randrange(len(lines)), lines.pop(at))
                    text = "".join(lines)
        return text

    def _value_replaced(self, text: str) -> str:
        """Replace a word or a number by a token."""
        words = text.replace('"', " ").replace(",", " ").replace("[", " ").replace("]", " ").split()
        if not words:
            return text
        return text.replace(self._random.choice(words), self._random.choice(TOKENS), 1)

    def _damaged(self, text: str) -> bytes:
        draw = self._random
        if draw.random() < 0.1:
            return draw.choice(
                [b"", b"\xff\xfe\x00", b"\0" * 100, b"\n" * 1000, b"/*" * 20_000, b"[" * 20_000]
            )
        content = self.damaged_text(text).encode("utf-8", "surrogatepass")
        return self._flipped(content) if content and draw.random() < 0.15 else content

    def _file(self, *names: str) -> str:
        """Return one of the files, or something else that stands in its place."""
        draw = self._random
        if draw.random() < 0.85:
            return draw.choice(names)
        return draw.choice(
            [*FILES, "ptx.npz", ".", "absent", "", "folder", "a\udcffb", "\x1b[2J", "/dev/null"]
        )

    def _instruction(self) -> str:
        text = self._random.choice(INSTRUCTIONS)
        return text if self._random.random() < 0.3 else self.damaged_text(text)

    def _options(self, *options: str, values: tuple[str, ...] = TOKENS) -> list[str]:
        draw = self._random
        return [word for option in options if draw.random() < 0.12 for word in (option, draw.choice(values))]

    def _results(self, *options: str) -> list[str]:
        names = ("result", "folder", "absent/result", "/dev/full", "/dev/null", "res\x1bult", "r" * 300)
        return self._options(*options, values=names)

    def _check(self) -> tuple[list[str], bytes]:
        patterns = [f"power/no/such/{self._random.choice(TOKENS)}"]
        options = self._options("--timeout", "--jobs", "--solver", "--memory")
        return [*patterns, *options, *self._results(*RESULTS, "--counterexamples")], b""

    def _browse(self) -> tuple[list[str], bytes]:
        return [self.damaged_text(self._random.choice([KNOWN, "xvf32ger", "power", "ptx/*"]))], b""

    def _export(self) -> tuple[list[str], bytes]:
        pattern = self.damaged_text(KNOWN)
        return [pattern if len(pattern) > 20 else KNOWN, "--out", self._file("smt")], b""

    def _legal(self) -> tuple[list[str], bytes]:
        draw = self._random
        options = self._options("--target", "--ptx")
        match draw.randrange(4):
            case 0:
                return [self._file("module.pto", "kernel.ptx"), *options], b""
            case 1:
                text = draw.choice([MODULE, KERNEL, "\n".join(INSTRUCTIONS)])
                return ["-", *options, *self._results("--junit", "--sarif")], self._damaged(text)
            case 2:
                request = json.dumps({"instr": draw.choice(INSTRUCTIONS), "target": "sm_80", "ptx": "8.0"})
                return ["-", *options], self._damaged(request)
        return [self._instruction(), *options, *(["--json"] if draw.random() < 0.3 else [])], b""

    def _tables(self) -> tuple[list[str], bytes]:
        values = ("power", "ptx", "pto", *TOKENS)
        return [
            self._random.choice(values),
            *self._options("--format", "--table"),
            *self._results("--out"),
        ], b""

    def _gate(self) -> tuple[list[str], bytes]:
        names = ("table.json", "lines.jsonl", "table.csv", "mmaproof.toml", "layout.json")
        options = self._options("--isa", "--target", "--ptx", "--column", values=("ptx", "sm_80", *TOKENS))
        allow = self._options("--allow", values=("accepted.toml", "folder", "absent"))
        return [self._file(*names), *options, *allow, *self._results(*RESULTS[:3])], b""

    def _layout(self) -> tuple[list[str], bytes]:
        draw = self._random
        against = ("@layout.csv", "@layout.json", "@folder", "@", "(4,8):(1,4)", *TOKENS)
        options = self._options("--lane", "--element", "--target", "--format")
        instruction, operands = draw.choice(list(OPERANDS.items()))
        operand = draw.choice(operands)
        if draw.random() < 0.3:
            instruction, operand = self._instruction(), draw.choice(["a", "registers", *TOKENS])
        options += self._options("--against", values=against)
        return [instruction, "--operand", operand, *options], b""

    def _run(self) -> tuple[list[str], bytes]:
        options = self._options("--choice", "--rounding", "--target")
        instruction, archive = self._random.choice(list(zip(OPERANDS, ARCHIVES, strict=True)))
        if self._random.random() < 0.2:
            instruction = self._instruction()
        return [instruction, self._file(archive), *options, "--out", self._file("out.npz")], b""

    def _verify(self) -> tuple[list[str], bytes]:
        contract = ["--contract", self._file("contract.toml")]
        results = self._results(*RESULTS, "--counterexamples")
        return [self._file("kernel.ptx"), *contract, *results], b""

    def _replay(self) -> tuple[list[str], bytes]:
        return [self._file("replayed.json", "obligation.json")], b""

    _commands: Mapping[str, Callable[[Hostile], tuple[list[str], bytes]]] = {
        "check": _check,
        "list": _browse,
        "explain": _browse,
        "export": _export,
        "legal": _legal,
        "tables": _tables,
        "gate": _gate,
        "layout": _layout,
        "run": _run,
        "verify": _verify,
        "replay": _replay,
    }
