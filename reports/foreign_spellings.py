"""Instructions as compilers, libraries and listings write them: to the instruction set's own text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from ..spec.instruction_set import recognised

_Rewriting = Callable[[re.Match[str]], str]

_CUTE_TYPE = re.compile(r"TF32|BF16|[FSU]\d+|E\dM\d")
_CUTE_LAYOUTS = {"T": "row", "N": "col"}
"""Of A or B: CuTe says whether BLAS, by columns, would transpose it."""


def _cute_atom(match: re.Match[str]) -> str:
    """Return the PTX of ``SM80_16x8x16_F32F16F16F32_TN``: types of D, A, B, C; transpositions of A, B."""
    rows, columns, depth, types, a, b, modifiers = match.groups()
    words = ["mma", "sync", "aligned", f"m{rows}n{columns}k{depth}"]
    words += [_CUTE_LAYOUTS[a], _CUTE_LAYOUTS[b]]
    words += ["satfinite"] if "SATURATE" in modifiers else []
    words += [name.lower().replace("u1", "b1") for name in _CUTE_TYPE.findall(types)]
    words += [f"{operation.lower()}.popc" for operation in re.findall(r"(XOR|AND)POPC", modifiers)]
    return ".".join(words)


_SPELLINGS: tuple[tuple[re.Pattern[str], _Rewriting], ...] = (
    (re.compile(r"(?:__builtin_(?:mma|vsx)_|llvm\.ppc\.(?:mma|vsx)\.)(\w+)"), lambda m: m[1]),
    (
        re.compile(r"(?:__builtin_amdgcn_|llvm\.amdgcn\.|rocdl\.)(s?mfmac?[._][\w.]+)"),
        lambda m: "v_" + m[1].replace(".", "_"),
    ),
    (
        re.compile(r"(?:pto::)?(T(?:MATMUL|GEMV)(?:_(?:ACC|BIAS|MX))*)(?=\s*(?:\(|;?$))"),
        lambda m: m[1].lower().replace("_", "."),
    ),
    (re.compile(r"(?:nvcuda::)?wmma::(?:mma|load_matrix|store_matrix)_sync\b"), lambda _: "wmma"),
    (re.compile(r"(?:cute::)?SM\d+_(\d+)x(\d+)x(\d+)_(\w+?)_([TN])([TN])(\w*)"), _cute_atom),
)
"""Names of functions: GCC's and LLVM's, of PTO's C++ headers, of CUDA; names of CuTe's atoms."""

_IN_FRONT = re.compile(
    r"\s*(?:/\*[0-9a-fA-F]+\*/\s*)?(?:[0-9a-fA-F]+:\s+(?:[0-9a-fA-F]{2,8}\s+)+)?(?:[.$%\w]+:\s+)*(\{\s*)?"
)
"""What listings put in front: an address and bytes, labels, the brace of a block."""

_INLINE = re.compile(r"\s*(?:asm\s*(?:volatile\s*)?\(\s*)?((?:\"(?:[^\"\\]|\\.)*\"\s*)+)")
_LITERAL = re.compile(r"\"((?:[^\"\\]|\\.)*)\"")


def of_names(text: str) -> Iterator[str]:
    """Yield the instruction for which compilers and libraries have the name that a text begins with.

    Arguments are left out.
    """
    for pattern, rewriting in _SPELLINGS:
        if found := pattern.match(text.strip()):
            yield rewriting(found)


def in_listings(text: str) -> Iterator[str]:
    """Yield what stands in inline assembly, or in a line of a listing behind its address and labels."""
    if inline := _INLINE.match(text):
        text = "".join(_LITERAL.findall(inline[1])).replace("\\n", " ").replace("\\t", " ")
        yield text
    front = _IN_FRONT.match(text)
    if front is not None and front.end():
        rest = text[front.end() :].strip()
        if not front[1]:
            yield rest
        elif rest.endswith("}"):
            yield rest.removesuffix("}")


def own_spelling(text: str) -> str:
    """Return an instruction as its instruction set spells it, where it stands in what others write."""
    others = (*of_names(text), *(in_listings(text) if recognised(text) is None else ()))
    return next((own for own in others if recognised(own) is not None), text)
