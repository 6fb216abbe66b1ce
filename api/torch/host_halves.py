"""The host's half of a file of CUDA: headers are compiled once, and what follows them for every extension.

nvcc writes the half that runs on the host as one text of C++, most of which is headers, the same for every
extension. Compilers take seconds for them, and hardly any for what follows.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from .host_text import host_text

END = "namespace mmaproof { struct EndOfHeaders; }"
"""What stands behind the headers, in the text that nvcc is given and in what it writes."""

HEAD = f"#include <torch/types.h>\n#include <cuda.h>\n#include <cuda_runtime.h>\n{END}\n#line 1\n"
"""What `torch.utils.cpp_extension.load_inline` puts before sources, and where it ends."""

MOST_HEADERS = 4
"""Different texts of headers that are compiled and kept, some 70 MiB each."""

_MANY = re.compile(
    r"std::(?:deque|set|multiset|function|bind|not_fn|mem_fn|hash|map|multimap|unordered_\w+|"
    r"shared_ptr|unique_ptr|weak_ptr|make_shared|make_unique|\w*mutex|lock_guard|"
    r"unique_lock|scoped_lock|call_once|once_flag|\w*stringstream|"
    r"[io]stream|cout|cerr|clog|endl|setw|setprecision|fixed|iota|accumulate|reduce|inner_product|gcd|lcm)\b"
)
"""Names of headers that take long, and that few extensions use without including them."""

_MARKER = re.compile(r"^# \d.*$", re.MULTILINE)


def headers_wanted(text: str) -> tuple[Sequence[str], ...]:
    """Return flags that say which headers the stand-ins include: what is tried first, and what next."""
    return ([],) if _MANY.search(text) else (["-DMMAPROOF_FEW_HEADERS"], [])


def host_source(preprocessed: Path, kept: Path) -> Path | None:
    """Return a text for the host that needs no nvcc; None where its headers are not compiled, or it does.

    Parameters
    ----------
    preprocessed : Path
        A file of CUDA, preprocessed for the host.
    kept : Path
        Where compiled headers are.
    """
    header, rest = _parts(preprocessed, kept)
    if header is None or not _compiled(header).exists() or (text := host_text(rest)) is None:
        return None
    return _source(preprocessed, header, text)


def separated(written: Path, preprocessed: Path, kept: Path, compiled: Callable[[Path, Path], None]) -> Path:
    """Return what is compiled for the host: what nvcc wrote, or what is behind headers that are compiled.

    Parameters
    ----------
    written, preprocessed : Path
        What nvcc wrote, and what it read.
    kept : Path
        Where compiled headers are.
    compiled : callable
        Compiles a header into a file.
    """
    header, _ = _parts(preprocessed, kept)
    headers, _, rest = _text(written).partition(END)
    if header is None or not rest:
        return written
    if not _compiled(header).exists():
        seen = header.with_suffix(".seen")
        if not seen.exists():  # what nvcc writes may be so of this extension alone
            seen.touch()
            return written
        if len(list(kept.glob("host_*.hpp.gch"))) >= MOST_HEADERS:
            return written
        beside = kept / f"{os.getpid()}_{header.name}"
        markers = _MARKER.sub("", headers)  # they name the extension's file, and matter to messages alone
        beside.write_text(markers, encoding="utf-8", errors="surrogateescape")
        compiled(beside, _compiled(beside))
        _compiled(beside).replace(_compiled(header))
        beside.replace(header)
    return _source(written, header, rest)


def _parts(preprocessed: Path, kept: Path) -> tuple[Path | None, str]:
    """Return the file of a text's headers as they are compiled, and what follows them."""
    headers, end, rest = _text(preprocessed).partition(END)
    digest = hashlib.sha256(_MARKER.sub("", headers).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return (kept / f"host_{digest}.hpp" if end else None), rest


def _compiled(header: Path) -> Path:
    return header.with_name(f"{header.name}.gch")


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="surrogateescape")


def _source(path: Path, header: Path, rest: str) -> Path:
    """Write what is compiled behind a header."""
    source = path.with_suffix(".cpp")
    source.write_text(f'#include "{header}"\n{rest}', encoding="utf-8", errors="surrogateescape")
    return source
