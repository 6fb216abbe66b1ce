"""C++ and CUDA extensions, compiled against stand-ins: their host code runs, and their kernels become PTX."""

from __future__ import annotations

import hashlib
import importlib.machinery
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

from . import extension_calls, host_text
from .compiler_flags import kept_flags
from .host_halves import HEAD, headers_wanted, host_source, separated
from .recording import NotRecordedError

STAND_IN = Path(__file__).with_name("stand_in")
_OF_COMPILERS = (
    "NVCC_APPEND_FLAGS", "NVCC_PREPEND_FLAGS", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH",
)  # fmt: skip
"""Variables of the environment that compilers heed."""

CPP = "-std=c++17"
HOST = (CPP, "-O0", "-fPIC", "-w")
OF_PYTORCH = (
    "-D__CUDA_NO_HALF_OPERATORS__", "-D__CUDA_NO_HALF_CONVERSIONS__", "-D__CUDA_NO_BFLOAT16_CONVERSIONS__",
    "-D__CUDA_NO_HALF2_OPERATORS__", "--expt-relaxed-constexpr",
)  # fmt: skip
"""Flags that `torch.utils.cpp_extension` gives to nvcc, before those of the extension."""

_OF_HOST = re.compile(r"#\$ \S+ (?!.*-D__CUDA_ARCH__=).* -E -x c\+\+ .*-D__CUDACC__\b")
"""What nvcc says it would run to preprocess a file for the host."""

UNCHECKED = "-DCCCL_DISABLE_CTK_COMPATIBILITY_CHECK"
"""Releases of nvcc and of CUDA's headers on PyPI need not be the same."""

MAIN_HEADER = "torch/extension.h"

MOST_KEPT = 200
"""Extensions that are kept for later calls."""


class Toolchain:
    """Compilers, and where what they make is kept.

    Parameters
    ----------
    folder : Path
        Of sources and what is made of them.
    kept : Path
        Of what any extension is linked with.
    target : str
        ``sm_80``.
    """

    def __init__(self, folder: Path, kept: Path, target: str) -> None:
        self.folder, self.kept, self.target = folder, kept, target
        extension_calls.target[:] = [target]

    @cached_property
    def nvcc(self) -> Path:
        """The compiler."""
        return _nvcc()

    @property
    def includes(self) -> list[str]:
        """Where headers are: the stand-ins, and CUDA's."""
        found = self.nvcc.parent.parent / "include"
        return [f"-I{STAND_IN}", *([f"-I{found}"] if found.is_dir() else [])]

    @cached_property
    def digest(self) -> str:
        """What the stand-ins and the compilers are, as a few letters."""
        sources = sorted(path for path in STAND_IN.rglob("*") if path.is_file())
        sources += [Path(__file__), Path(host_text.__file__)]
        compilers = [
            *OF_PYTORCH,
            *HOST,
            HEAD,
            str(self.nvcc),
            str(self.nvcc.stat().st_mtime_ns),
            str(_modified("g++")),
            sys.version,
        ]
        text = b"".join(source.read_bytes() for source in sources) + "\n".join(compilers).encode()
        return hashlib.sha256(text).hexdigest()[:16]

    @property
    def kept_here(self) -> Path:
        """The folder of what these compilers and stand-ins have made."""
        return self.kept / self.digest

    def runtime(self) -> Path:
        """Return the object that extensions are linked with; it is compiled once."""
        python = f"-I{sysconfig.get_path('include')}"
        source = str(STAND_IN / "mmaproof_python.cpp")
        return self._once("runtime.o", ["g++", CPP, "-O1", "-fPIC", "-w", "-c", source, python])

    def header(self) -> Path:
        """Return the header of extensions, beside which there is one that is compiled."""
        made = self._once("header.hpp.gch", ["g++", *HOST, "-x", "c++-header", str(STAND_IN / MAIN_HEADER)])
        header = made.with_suffix("")
        if not header.exists():
            header.write_text(f'#include "{STAND_IN / MAIN_HEADER}"\n', encoding="utf-8")
        return header

    def _once(self, name: str, command: Sequence[str]) -> Path:
        """Return a file that is compiled once, and kept for all extensions."""
        made = self.kept / self.digest / name
        if not made.exists():
            made.parent.mkdir(parents=True, exist_ok=True)
            beside = made.with_name(f"{os.getpid()}_{name}")
            _run([[*command, "-o", str(beside), *self.includes]])
            beside.replace(made)
        return made

    def extension(
        self,
        name: str,
        cpp: Sequence[Path],
        cuda: Sequence[Path],
        flags: Sequence[str],
        include_paths: Sequence[Any] = (),
    ) -> Any:
        """Compile an extension, unless that is done, and import it.

        Raises
        ------
        NotRecordedError
            If it does not compile, or needs what the stand-ins don't have.
        """
        kept = [*kept_flags(flags), *(f"-I{Path(include_path).resolve()}" for include_path in include_paths)]
        texts = [path.read_text(encoding="utf-8") for path in (*cpp, *cuda)]
        names = [path.name for path in (*cpp, *cuda)]
        heeded = [os.environ.get(variable, "") for variable in _OF_COMPILERS]
        text = "\n".join([*kept, *heeded, self.target, self.digest, *names, *texts])
        digest = hashlib.sha256(text.encode()).hexdigest()[:24]
        alone = not include_paths and not any(
            re.search(r'#\s*include\s*"', each) for each in texts
        )  # headers may change unseen
        folder = (self.kept / self.digest if alone else self.folder) / f"extension_{digest}"
        library = folder / "extension.so"
        if not library.exists():
            beside = folder.with_name(f"{folder.name}_{os.getpid()}")
            beside.mkdir(parents=True, exist_ok=True)
            self._compile(beside, name, cpp, cuda, kept)
            with suppress(OSError):  # another process was faster
                beside.replace(folder)
            if alone:
                _forget_oldest(folder.parent)
        for ptx in sorted(folder.glob("*/*.ptx")):
            extension_calls.register(ptx)
        return _imported(library)

    def _compile(
        self, into: Path, name: str, cpp: Sequence[Path], cuda: Sequence[Path], kept: Sequence[str]
    ) -> None:
        """Compile an extension's files into a folder, and link them."""
        plain = [each for each in kept if each.startswith(("-D", "-U", "-I"))]
        jobs: list[list[list[str]]] = []
        objects = [self.runtime()]
        for path in cpp:
            made = into / f"{path.stem}_cpp.o"
            header = [] if plain else ["-include", str(self.header())]  # which macros might change
            jobs.append([["g++", *HOST, *header, *plain, *self.includes, "-c", str(path), "-o", str(made)]])
            objects.append(made)
        files = [CudaFile(self, path, into, kept) for path in cuda]
        _run(*jobs, *(job for file in files for job in file.jobs()))
        library = into / "extension.so"
        for again in (False, True):
            left = [file for file in files if not file.object.exists()]
            _run(*(file.of_nvcc() for file in left))
            _run(*([file.of_half()] for file in left))
            every = [*objects, *(file.object for file in files)]
            _run([["g++", "-shared", "-s", "-Wl,-Bsymbolic", "-o", str(library), *map(str, every)]])
            apart = [file for file in files if not file.is_of_nvcc]
            unfit = [file for file in apart if file.has_hidden_kernels(library)]
            if foreign := [] if unfit else _foreign(library):
                unfit = apart  # of functions of devices nvcc makes ones that end the process
            if again or not unfit:
                break
            for file in unfit:
                file.object.unlink()
        if foreign:
            raise NotRecordedError(f"the extension {name} calls {foreign[0]}, which is not recorded")

    # -- in place of torch.utils.cpp_extension
    def load_inline(
        self,
        name: str,
        cpp_sources: Any,
        cuda_sources: Any = None,
        sycl_sources: Any = None,
        functions: Any = None,
        extra_cflags: Any = None,
        extra_cuda_cflags: Any = None,
        extra_sycl_cflags: Any = None,
        extra_ldflags: Any = None,
        extra_include_paths: Any = None,
        *_: Any,
        **__: Any,
    ) -> Any:
        """See `torch.utils.cpp_extension.load_inline`."""
        host = ["#include <torch/extension.h>", *_listed(cpp_sources)]
        device = _listed(cuda_sources)
        if functions is not None:
            exported = (
                functions if isinstance(functions, Mapping) else {each: each for each in _listed(functions)}
            )
            host.append("PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {")
            host += [f'm.def("{each}", &{each}, "{each}");' for each in exported]
            host.append("}")
        cpp, cuda = self.folder / f"{name}_main.cpp", self.folder / f"{name}.cu"
        cpp.write_text("\n".join(host), encoding="utf-8")
        if device:
            cuda.write_text(HEAD + "\n".join(device), encoding="utf-8")
        flags = [*_listed(extra_cflags), *_listed(extra_cuda_cflags)]
        return self.extension(name, [cpp], [cuda] if device else [], flags, _listed(extra_include_paths))

    def load(
        self,
        name: str,
        sources: Any,
        extra_cflags: Any = None,
        extra_cuda_cflags: Any = None,
        extra_sycl_cflags: Any = None,
        extra_ldflags: Any = None,
        extra_include_paths: Any = None,
        *_: Any,
        **__: Any,
    ) -> Any:
        """See `torch.utils.cpp_extension.load`."""
        paths = [Path(each) for each in _listed(sources)]
        cuda = [path for path in paths if path.suffix == ".cu"]
        flags = [*_listed(extra_cflags), *_listed(extra_cuda_cflags)]
        plain = [path for path in paths if path not in cuda]
        return self.extension(name, plain, cuda, flags, _listed(extra_include_paths))


class CudaFile:
    """A file of CUDA that is compiled: its kernels to PTX, and the rest for the host.

    Parameters
    ----------
    toolchain : Toolchain
        The compilers.
    path, into : Path
        The file, and the folder of what is made of it.
    kept : sequence of str
        Flags of the extension.
    """

    def __init__(self, toolchain: Toolchain, path: Path, into: Path, kept: Sequence[str]) -> None:
        self._toolchain, self._path, self._folder = toolchain, path, into / path.stem
        self._folder.mkdir(exist_ok=True)
        self._half, self.object = into / f"{path.stem}_half.ii", into / f"{path.stem}_cuda.o"
        self._text = path.read_text(encoding="utf-8")
        flags = [each for each in kept if not each.startswith(("-std", "--std"))]
        self._flags = [*flags, *(["-DMMAPROOF_BINDS"] if "PYBIND11_MODULE" in self._text else [])]

    def _nvcc(self, to: str, made: Path, headers: Sequence[str], *more: str) -> list[str]:
        virtual = self._toolchain.target.replace("sm_", "compute_")
        return [
            str(self._toolchain.nvcc), CPP, to, *OF_PYTORCH, UNCHECKED, *headers, "-w", "-lineinfo", *more,
            "-Xcompiler=-fPIC", "-gencode", f"arch={virtual},code={virtual}", str(self._path),
            "-o", str(made), *self._flags, *self._toolchain.includes,
        ]  # fmt: skip

    def of_nvcc(self) -> list[list[str]]:
        """Return the commands of which one makes PTX and the host's half, as nvcc does."""
        keep = ("--keep", "--keep-dir", str(self._folder))
        return [self._nvcc("-cuda", self._half, headers, *keep) for headers in headers_wanted(self._text)]

    def jobs(self) -> list[list[list[str]]]:
        """Return the commands that compile kernels and the host's half apart; none where nvcc has to."""
        if (source := self._host_source()) is None:
            return []
        ptx = self._folder / f"{self._path.stem}.ptx"
        return [
            [self._nvcc("-ptx", ptx, headers) for headers in headers_wanted(self._text)],
            [["g++", *HOST, "-c", str(source), "-o", str(self.object)], ["true"]],
        ]

    def of_half(self) -> list[str]:
        """Return the command that compiles the host's half that nvcc has written."""

        def compiled(header: Path, made: Path) -> None:
            _run([["g++", *HOST, "-x", "c++-header", str(header), "-o", str(made)]])

        preprocessed = self._folder / f"{self._path.stem}.cpp4.ii"
        source = separated(self._half, preprocessed, self._toolchain.kept_here, compiled)
        return ["g++", *HOST, "-c", str(source), "-o", str(self.object)]

    def _host_source(self) -> Path | None:
        """Return a text for the host that needs no nvcc, where that is known to be enough."""
        headers = headers_wanted(self._text)[0]
        asked = [*self._nvcc("-cuda", self._half, headers), "--dryrun"]
        said = subprocess.run(asked, capture_output=True, text=True, check=False).stderr
        command = next((line[3:] for line in said.splitlines() if _OF_HOST.match(line)), None)
        made = self._folder / f"{self._path.stem}.host.ii"
        if command is None:
            return None
        command = f"{command.rpartition(' -o ')[0]} -o {shlex.quote(str(made))}"
        if subprocess.run(command, shell=True, capture_output=True, check=False).returncode:
            return None
        return host_source(made, self._toolchain.kept_here)

    def has_hidden_kernels(self, library: Path) -> bool:
        """Tell whether a kernel has no symbol in a library, or another one: nvcc names it by itself."""
        ptx = (self._folder / f"{self._path.stem}.ptx").read_text(encoding="utf-8")
        names, symbols = re.findall(r"\.entry\s+([\w$]+)", ptx), library.read_bytes()
        return any(f"\0{name}\0".encode() not in symbols for name in names)

    @property
    def is_of_nvcc(self) -> bool:
        """Whether nvcc has written the host's half."""
        return self._half.exists()


def _foreign(library: Path) -> list[str]:
    """Return the functions that a library calls and that are neither Python's nor the system's.

    PyTorch has CUDA's own libraries, which would run what is to be recorded.
    """
    command = ["nm", "-D", "--undefined-only", "--with-symbol-versions", str(library)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = [line.split() for line in said.splitlines()]
    return [
        name for kind, name in found if kind == "U" and "@" not in name and not name.startswith(("Py", "_Py"))
    ]


def _imported(library: Path) -> Any:
    """Import an extension that is compiled."""
    loader = importlib.machinery.ExtensionFileLoader("mmaproof_extension", str(library))
    spec = importlib.util.spec_from_file_location("mmaproof_extension", str(library), loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def _forget_oldest(folder: Path) -> None:
    """Remove the extensions that were compiled first, where there are many."""
    every = sorted(folder.glob("extension_*"), key=lambda path: path.stat().st_mtime_ns)
    for path in every[:-MOST_KEPT]:
        shutil.rmtree(path, ignore_errors=True)


def _modified(program: str) -> int:
    """Return when a program was written, which changes with its version."""
    found = shutil.which(program)
    return Path(found).stat().st_mtime_ns if found else 0


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, tuple | list) else [value]


def _nvcc() -> Path:
    """Return a compiler of CUDA that has its runtime's headers."""
    found = [Path(each).resolve() for each in [shutil.which("nvcc")] if each]
    for folder in sys.path:
        found += [path.resolve() for path in sorted(Path(folder).glob("nvidia/*/bin/nvcc"))]
    for compiler in found:
        if (compiler.parent.parent / "include" / "cuda_runtime.h").is_file():
            return compiler
    raise NotRecordedError(
        "there is no nvcc with the headers of CUDA's runtime: install CUDA's toolkit, or nvidia-cuda-nvcc, "
        "nvidia-cuda-runtime and nvidia-nvvm of PyPI"
    )


def _run(*jobs: Sequence[Sequence[str]]) -> None:
    """Run compilers side by side; of every job the first command that succeeds."""
    left = dict(enumerate(jobs))
    while left:
        running = {
            number: subprocess.Popen(each[0], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            for number, each in left.items()
        }
        said = {number: each.communicate()[0] for number, each in running.items()}
        failed = [number for number, each in running.items() if each.returncode]
        for number in failed:
            if len(left[number]) == 1:
                lines = said[number].splitlines()
                lines = [line for line in lines if "error" in line.lower()] or lines or ["?"]
                raise NotRecordedError(f"the extension does not compile without PyTorch: {lines[0]}")
        left = {number: left[number][1:] for number in failed}
