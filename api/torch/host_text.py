"""The host's half of a file of CUDA as C++, made of its preprocessed text: kernels are stubs, launches calls.

nvcc's front end for the host takes longer than the rest of a compilation, most of it for headers. Behind
headers that are compiled, a text needs little: a kernel's body becomes a stub, the body of a function of
devices alone is deleted, unless it is ``constexpr``, which the host may call, and
``kernel<<<grid, block>>>(x, y)`` becomes ``kernel((configured(grid, block), x), y)``. A text that has more of
CUDA's own, or does not compile so, is left to nvcc.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

DECLARED = """namespace mmaproof {
int configured(dim3, dim3, size_t = 0, cudaStream_t = nullptr);
void stub(void**);
}
"""
"""What the text calls; see ``stand_in/mmaproof_python.cpp``."""

_TOKEN = re.compile(
    r'"(?:\\.|[^"\\\n])*"|[\w.]*\d\'[\w\'.]+|\'(?:\\.|[^\'\\\n])*\'|[A-Za-z_]\w*|<<<|>>>|->|::|\S'
)

_OPEN, _CLOSE = "([{", ")]}"

_LEFT_TO_NVCC = re.compile(
    r'\b(?:u8|[uUL])?R"|__attribute__\s*\(\(\s*(?:constant|managed)\b|\b(?:texture|surface)\s*<|cooperative_groups'
)
"""Raw strings, variables that the host has to register, and headers that are long."""

_TYPES = frozenset({"void", "bool", "char", "short", "int", "long", "unsigned", "float", "double"})
"""What a parameter without a name is surely of; another word may be the number that a variable has."""


class _UnknownError(Exception):
    """A text that is left to nvcc."""


class _Text:
    """The tokens of a text.

    Parameters
    ----------
    text : str
        Preprocessed C++ with CUDA's extensions.

    Attributes
    ----------
    declared : set of str
        The functions of devices that are declared before they are defined.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        directives = re.compile(r"^[ \t]*#.*$", re.MULTILINE)  # such as how structures are packed
        found = list(_TOKEN.finditer(directives.sub(lambda line: " " * len(line[0]), text)))
        self.words = [each[0] for each in found]
        self.starts = [each.start() for each in found]
        self.ends = [each.end() for each in found]
        self.declared = set[str]()

    def between(self, first: int, last: int) -> str:
        """Return the text of the tokens from one up to another."""
        return self.text[self.starts[first] : self.ends[last - 1]] if first < last else ""

    def closing(self, at: int) -> int:
        """Return where the bracket that opens at a token closes."""
        depth = 0
        for place in range(at, len(self.words)):
            depth += (self.words[place] in _OPEN) - (self.words[place] in _CLOSE)
            if not depth:
                return place
        raise _UnknownError

    def next_outside(self, at: int, wanted: Sequence[str]) -> int:
        """Return the next of some tokens that is in no bracket that opens from a token on."""
        while at < len(self.words):
            if self.words[at] in wanted:
                return at
            at = self.closing(at) + 1 if self.words[at] in _OPEN else at + 1
        raise _UnknownError

    def arguments(self, first: int, last: int) -> Iterator[tuple[int, int]]:
        """Yield the first token of each argument, and the one behind it, in an argument list."""
        begun, at, angles = first, first, 0
        while at < last:
            word = self.words[at]
            angles += (word == "<") - (word == ">")
            if word == "," and angles <= 0:
                yield begun, at
                begun = at + 1
            at = self.closing(at) + 1 if word in _OPEN else at + 1
        if begun < last:
            yield begun, last


def host_text(text: str) -> str | None:
    """Return a preprocessed text of CUDA as C++ for the host; None where that is left to nvcc."""
    if _LEFT_TO_NVCC.search(text):
        return None
    words = _Text(text)
    try:
        return DECLARED + "".join(_pieces(words))
    except (_UnknownError, IndexError):  # the end of the text comes early
        return None


def _pieces(words: _Text) -> Iterator[str]:
    """Yield the parts of the text that replaces another."""
    copied, at, declaration = 0, 0, 0
    while at < len(words.words):
        word = words.words[at]
        if word in (";", "{", "}"):
            declaration = at + 1
        elif word == "__attribute__" and words.words[at + 3] in ("global", "device"):
            body = words.next_outside(at, ("{", ";", "="))
            while "operator" in words.words[body - 2 : body]:
                body = words.next_outside(body + 1, ("{", ";", "="))
            made = _body(words, declaration, at, body)
            if made is not None:
                yield words.text[copied : words.starts[body]] + made
                at = words.closing(body)
                copied, declaration = words.ends[at], at + 1
            else:
                at = body - 1
        elif word == "<<<":
            close = words.next_outside(at + 1, (">>>",))
            yield words.text[copied : words.starts[at]]
            copied = words.ends[close]
            at, call = close, _call(words, words.between(at + 1, close), close + 1)
            yield call[0]
            copied = call[1]
        at += 1
    yield words.text[copied:]


def _body(words: _Text, declaration: int, at: int, body: int) -> str | None:
    """Return what stands for the body of a function of devices; None where it stays, or is elsewhere."""
    attributes = {
        words.words[place + 3] for place in range(declaration, body) if words.words[place] == "__attribute__"
    }
    if words.words[at - 1] == "]":  # a lambda
        raise _UnknownError
    if words.words[body] != "{":
        words.declared.add(_declared(words, at, body))
        return None
    if "global" in attributes:
        return _stub(words, at, body)
    kinds = words.words[declaration:body]
    if "host" not in attributes and "auto" in kinds:  # its body is its type
        raise _UnknownError
    if "host" in attributes or "constexpr" in kinds:
        return None
    name = words.words[_function(words, at, body)]
    return ";" if name in words.declared else "= delete;"  # or the linker finds none


def _function(words: _Text, at: int, body: int) -> int:
    """Return where the name of a function is: before its parameters."""
    while at < body:
        if words.words[at] == "(":
            if words.words[at - 1] != "__attribute__":
                return at - 1
            at = words.closing(at)
        at += 1
    raise _UnknownError  # a variable


def _declared(words: _Text, at: int, body: int) -> str:
    """Return the name of a function that is declared, and no variable that has what is in parentheses."""
    name = _function(words, at, body)
    for first, end in words.arguments(name + 2, words.closing(name + 1)):
        word = words.words[first]
        if not word.isidentifier() or (end == first + 1 and word not in _TYPES):
            raise _UnknownError
    return words.words[name]


def _stub(words: _Text, at: int, body: int) -> str:
    """Return the body of a kernel on the host, which tells where its arguments lie."""
    last = body - 1
    if words.words[last] != ")":
        raise _UnknownError
    first = next(
        place for place in range(at, last) if words.words[place] == "(" and words.closing(place) == last
    )
    names = [_name(words, *each) for each in words.arguments(first + 1, last)]
    given = ", ".join(f"(void*)&{name}" for name in names)
    return f"{{ void* mmaproof_given[] = {{{given or 'nullptr'}}}; ::mmaproof::stub(mmaproof_given); }}"


def _name(words: _Text, first: int, last: int) -> str:
    """Return the name of a parameter."""
    end = next((place for place in range(first, last) if words.words[place] in ("=", "[")), last)
    name = words.words[end - 1]
    if not name.isidentifier():
        raise _UnknownError
    return name


def _call(words: _Text, grid: str, at: int) -> tuple[str, int]:
    """Return a launch as a call, up to its first argument's end, and where the text goes on."""
    if words.words[at] != "(":
        raise _UnknownError
    first = next(words.arguments(at + 1, words.closing(at)), None)
    if first is None:
        raise _UnknownError
    argument = words.between(*first)
    return f"((::mmaproof::configured({grid}), {argument})", words.ends[first[1] - 1]
