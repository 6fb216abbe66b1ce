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


def separated(written: Path, kept: Path, compiled: Callable[[Path, Path], None]) -> Path:
    """Return what is compiled for the host: what nvcc wrote, or what is behind headers that are compiled.

    Parameters
    ----------
    written : Path
        What nvcc wrote.
    kept : Path
        Where compiled headers are.
    compiled : callable
        Compiles a header into a file.
    """
    text = written.read_text(encoding="utf-8", errors="surrogateescape")
    headers, end, rest = text.partition(END)
    if not end:
        return written
    headers = _MARKER.sub("", headers)  # they name the extension's file, and matter to messages alone
    digest = hashlib.sha256(headers.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    header = kept / f"host_{digest}.hpp"
    made = header.with_name(f"{header.name}.gch")
    if not made.exists():
        seen = header.with_suffix(".seen")
        if not seen.exists():  # what nvcc writes may be so of this extension alone
            seen.touch()
            return written
        if len(list(kept.glob("host_*.hpp.gch"))) >= MOST_HEADERS:
            return written
        beside = kept / f"{os.getpid()}_{header.name}"
        beside.write_text(headers, encoding="utf-8", errors="surrogateescape")
        compiled(beside, beside.with_name(f"{beside.name}.gch"))
        beside.with_name(f"{beside.name}.gch").replace(made)
        beside.replace(header)
    source = written.with_suffix(".cpp")
    source.write_text(f'#include "{header}"\n{rest}', encoding="utf-8", errors="surrogateescape")
    return source
