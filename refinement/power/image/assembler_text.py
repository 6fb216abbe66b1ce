"""Reader of assembler text, from ``gcc -S`` or ``objdump -d``.

Text is laid out as an object file is. Of a listing the machine code counts, not the mnemonics beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from ....spec.errors import InputError
from ....spec.text_files import read_text
from .extended_mnemonics import basic
from .instruction_forms import TARGETS, Form, forms
from .listing import is_listing, read_listing
from .program import IMPORT_BYTES, IMPORTS, Image, Section, Symbol
from .text_operands import DATA, IGNORED, data_bytes, evaluate

_LABEL = re.compile(r"\s*([.$A-Za-z_][\w.$]*|\d+):\s*")
_STATEMENT = re.compile(r"\s*(\.?[A-Za-z_][\w.]*[+-]?)(?:\s+(.*))?")
_COMMENT = re.compile(r'#(?=(?:[^"]*"[^"]*")*[^"]*$).*')
_PARENTHESES = re.compile(r"(.*)\(([^()]*)\)\s*")
_MODIFIER = re.compile(r"(.*?)@(.+)")
_HERE = re.compile(r"\.\s*(?:\+\s*(\d+))?")
_TOC = ".TOC."
_TOC_BIAS = 0x8000
_NOP = 0x60000000
_MOST_BYTES = 1 << 26
"""Of a section."""


@dataclass
class _Section:
    """A section while it is put together."""

    name: str
    executable: bool
    writable: bool
    data: bytearray = field(default_factory=bytearray)
    address: int = 0


@dataclass(frozen=True)
class _Piece:
    """A statement that makes bytes, at its place."""

    section: _Section
    offset: int
    line: int
    mnemonic: str
    operands: tuple[str, ...]


def read_text_program(path: Path) -> Image:
    """Read assembler text.

    Raises
    ------
    InputError
        If it can't be read, or is no assembler text for Power.
    """
    text = read_text(path)
    if is_listing(text):
        return read_listing(text, str(path))
    return _Assembly(str(path)).read(text)


class _Assembly:
    """Text being assembled."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._sections: dict[str, _Section] = {}
        self._section = self._enter(".text")
        self._labels: dict[str, tuple[_Section, int]] = {}
        self._sets: dict[str, int] = {}
        self._pieces: list[_Piece] = []
        self._functions: set[str] = set()
        self._globals: set[str] = set()
        self._without_toc: set[str] = set()
        self._imports: dict[str, int] = {}
        self._slots: dict[str, int] = {}
        self._texts: dict[int, str] = {}
        self._lines: dict[int, int] = {}
        self._got = 0

    def read(self, text: str) -> Image:
        for line, statement in _statements(text):
            self._collect(line, statement)
        if not any(form_of(piece) for piece in self._pieces):
            raise InputError("is neither an ELF file nor assembler text for Power", self._path)
        self._place()
        for piece in self._pieces:
            if piece.mnemonic in DATA:
                data = data_bytes(piece.mnemonic, piece.operands, partial(self._value, piece))
                piece.section.data[piece.offset : piece.offset + len(data)] = data
                here = piece.section.address + piece.offset
                self._lines |= dict.fromkeys(range(here, here + len(data), 4), piece.line)
            else:
                self._assemble(piece)
        sections = [
            Section(
                section.name,
                section.address,
                section.data,
                section.executable,
                section.writable,
                not section.writable,
            )
            for section in self._sections.values()
        ]
        if self._slots:
            table = b"".join(self._address(name).to_bytes(8, "little") for name in self._slots)
            sections.append(Section(".got", self._got, bytearray(table), False, True, True))
        symbols = [
            Symbol(name, section.address + offset, 0, name in self._functions, name in self._globals, keeps)
            for name, (section, offset) in self._labels.items()
            if not name.startswith(".L")
            for keeps in [name not in self._without_toc]
        ]
        ordered = tuple(
            sorted((section for section in sections if section.data), key=lambda each: each.address)
        )
        imports = {at: name for name, at in self._imports.items()}
        return Image(self._path, ordered, tuple(symbols), self._toc, imports, {}, self._lines, self._texts)

    # -- first pass: sizes
    def _enter(self, name: str, flags: str | None = None) -> _Section:
        if name not in self._sections:
            executable = "x" in flags if flags is not None else name.startswith(".text")
            writable = "w" in flags if flags is not None else name.startswith((".data", ".bss"))
            self._sections[name] = _Section(name, executable, writable)
        return self._sections[name]

    def _collect(self, line: int, statement: str) -> None:
        while match := _LABEL.match(statement):
            self._labels[match[1]] = (self._section, len(self._section.data))
            statement = statement[match.end() :]
        if not statement.strip():
            return
        match = _STATEMENT.fullmatch(statement)
        if match is None:
            raise InputError(f"{statement.strip()[:60]!r} is not a statement", f"{self._path}:{line}")
        mnemonic, rest = match[1].lower(), match[2] or ""
        operands = tuple(_operands(rest))
        section = self._section
        if mnemonic.startswith("."):
            self._directive(line, mnemonic, operands)
            return
        name, _ = basic(mnemonic, operands, lambda _: 1)
        form = forms().get(name)
        size = form.size // 8 if form else 8 if name.startswith("p") and name[1:] in forms() else 4
        if size == 8 and len(section.data) % 64 == 60:
            section.data += _NOP.to_bytes(4, "little")
        self._add(line, mnemonic, operands, size)

    def _add(self, line: int, mnemonic: str, operands: tuple[str, ...], size: int) -> None:
        section = self._section
        if len(section.data) + size > _MOST_BYTES:
            raise InputError(
                f"section {section.name} has more than {_MOST_BYTES} bytes", f"{self._path}:{line}"
            )
        self._pieces.append(_Piece(section, len(section.data), line, mnemonic, operands))
        section.data += bytes(size)

    def _directive(self, line: int, name: str, operands: tuple[str, ...]) -> None:
        where = f"{self._path}:{line}"
        try:
            match name:
                case ".text" | ".data" | ".bss" | ".section":
                    named = operands if name == ".section" else (name,)
                    self._section = self._enter(*(each.strip('"') for each in (named[0], *named[1:2])))
                case ".align" | ".p2align":
                    self._align(1 << (evaluate(operands[0], self._known) & 15))
                case ".balign":
                    self._align(evaluate(operands[0], self._known))
                case ".globl" | ".global" | ".weak":
                    self._globals.update(operands)
                case ".type":
                    if len(operands) > 1 and "function" in operands[1]:
                        self._functions.add(operands[0])
                case ".localentry":
                    self._without_toc |= {operands[0]} if operands[1] == "1" else set()
                case ".set":
                    self._set(*operands)
                case _ if name in DATA:
                    self._add(line, name, operands, len(data_bytes(name, operands, lambda _: 0)))
                case _ if name in IGNORED or name.startswith(".cfi"):
                    pass
                case _:
                    raise InputError("the directive is not supported")
        except (IndexError, TypeError, KeyError, InputError) as error:
            raise InputError(f"{name}: {error}", where) from None

    def _set(self, name: str, text: str) -> None:
        if match := _HERE.fullmatch(text):
            self._labels[name] = (self._section, len(self._section.data) + int(match[1] or "0"))
        elif text in self._labels:
            self._labels[name] = self._labels[text]
        else:
            self._sets[name] = evaluate(text, self._known)

    def _align(self, alignment: int) -> None:
        if alignment < 1 or alignment > 1 << 16:
            raise InputError(f"an alignment of {alignment}")
        fill = _NOP.to_bytes(4, "little") if self._section.executable else bytes(4)
        while len(self._section.data) % alignment:
            missing = -len(self._section.data) % alignment
            self._section.data += fill[: min(4, missing)] if len(self._section.data) % 4 == 0 else b"\0"

    def _known(self, name: str) -> int:
        return self._sets[name]

    # -- second pass: addresses
    def _place(self) -> None:
        address = 0
        for executable in (True, False):
            for section in self._sections.values():
                if section.executable is executable:
                    section.address = -(-address // 256) * 256
                    address = section.address + len(section.data)
            address = max(address, IMPORTS + (1 << 24)) if executable else address
        self._got = -(-address // 256) * 256
        self._toc = self._got + _TOC_BIAS

    def _address(self, name: str) -> int:
        if name == _TOC:
            return self._toc
        if name in self._sets:
            return self._sets[name]
        if name in self._labels:
            section, offset = self._labels[name]
            return section.address + offset
        return self._imports.setdefault(name, IMPORTS + IMPORT_BYTES * len(self._imports))

    def _value(self, piece: _Piece, text: str) -> int:
        here = piece.section.address + piece.offset
        return evaluate(text, lambda name: here if name == "." else self._address(name))

    def _assemble(self, piece: _Piece) -> None:
        address = piece.section.address + piece.offset
        self._lines[address] = piece.line
        where = f"{self._path}:{piece.line}"
        shown = f"{piece.mnemonic} {','.join(piece.operands)}".strip()
        try:
            name, operands = basic(piece.mnemonic, piece.operands, partial(self._value, piece))
            form = forms().get(name)
            if form is None:
                self._texts[address] = shown
                return
            word = form.encode(self._values(form, operands, piece, address))
        except (ValueError, IndexError) as error:
            raise InputError(f"{shown}: {error}", where) from None
        words = (word >> 32, word & 0xFFFFFFFF) if form.size == 64 else (word,)
        data = b"".join(each.to_bytes(4, "little") for each in words)
        piece.section.data[piece.offset : piece.offset + len(data)] = data

    def _values(self, form: Form, operands: list[str], piece: _Piece, address: int) -> list[int]:
        """Return the operands' values; an address relative to the instruction brings R with it."""
        texts, relative = [], False
        for text in operands:
            inside = _PARENTHESES.fullmatch(text)
            if inside and "(" in form.syntax and inside[1].strip():
                texts += [inside[1], inside[2]]
            else:
                texts.append(text)
        names = [operand.name for operand in form.operands]
        if any("@pcrel" in text.lower() for text in texts):
            relative = True
        if "R" in names and len(texts) < len(names):
            texts += ["0"] * (len(names) - 1 - len(texts)) + [str(int(relative))]
        if len(texts) != len(names):
            raise InputError(f"{form.mnemonic} takes {len(names)} operands, {form.syntax}")
        found = []
        for operand, text in zip(form.operands, texts, strict=True):
            value = self._modified(text, piece, address)
            if operand.name in TARGETS:
                value -= address
            if (
                operand.name in ("SI", "D", "DS", "DQ")
                and 0x8000 <= value < 0x10000
                and form.mnemonic != "addi"
            ):
                value -= 0x10000
            found.append(value)
        return found

    def _modified(self, text: str, piece: _Piece, address: int) -> int:
        match = _MODIFIER.fullmatch(text.strip())
        if match is None:
            return self._value(piece, text)
        symbol, modifier = match[1], match[2].lower()  # LLVM writes @PCREL
        if modifier == "got@pcrel":
            slot = self._slots.setdefault(symbol, self._got + 8 * len(self._slots))
            return slot - address
        value = self._value(piece, symbol)
        if modifier == "pcrel":
            return value - address
        if modifier in ("notoc", "plt", "local"):
            return value
        base, _, part = modifier.rpartition("@")
        if base == "toc":
            value -= self._toc
        elif base:
            raise InputError(f"@{modifier} is not supported")
        match part:
            case "ha":
                return _signed(value + 0x8000 >> 16)
            case "l":
                return _signed(value)
            case "toc":
                return value - self._toc
        raise InputError(f"@{modifier} is not supported")


def form_of(piece: _Piece) -> Form | None:
    """Return the form of an instruction, if it is one."""
    return forms().get(basic(piece.mnemonic, piece.operands, lambda _: 1)[0])


def _signed(value: int) -> int:
    half = value & 0xFFFF
    return half - 0x10000 if half >> 15 else half


def _statements(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), start=1):
        yield number, _COMMENT.sub("", line)


def _operands(text: str) -> Iterator[str]:
    """Yield operands: what commas outside of parentheses and quotes separate."""
    part, depth, quoted = "", 0, False
    for at, letter in enumerate(text):
        if letter == '"' and (at == 0 or text[at - 1] != "\\"):
            quoted = not quoted
        depth += (letter == "(") - (letter == ")") if not quoted else 0
        if letter == "," and not depth and not quoted:
            yield part.strip()
            part = ""
        else:
            part += letter
    if part.strip():
        yield part.strip()
