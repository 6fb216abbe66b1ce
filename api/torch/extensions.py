"""C++ and CUDA extensions, compiled against stand-ins: their host code runs, and their kernels become PTX."""

from __future__ import annotations

import hashlib
import importlib.machinery
import importlib.util
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from . import extension_calls
from .recording import NotRecordedError

STAND_IN = Path(__file__).with_name("stand_in")
KEPT_FLAGS = re.compile(
    r"-D|-U|--?use_fast_math|--?fmad|--?ftz|--?prec-|--?std|-O\d|--expt|--extended|-maxrregcount|--maxrregcount"
)
CPP = "-std=c++17"


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
        self.nvcc = _nvcc()

    @property
    def includes(self) -> list[str]:
        """Where headers are: the stand-ins, and CUDA's."""
        found = self.nvcc.parent.parent / "include"
        return [f"-I{STAND_IN}", *([f"-I{found}"] if found.is_dir() else [])]

    def runtime(self) -> Path:
        """Return the object that extensions are linked with; it is compiled once."""
        sources = sorted(STAND_IN.glob("mmaproof_*"))
        digest = hashlib.sha256(b"".join(each.read_bytes() for each in sources) + sys.version.encode())
        made = self.kept / f"extension_runtime_{digest.hexdigest()[:16]}.o"
        if not made.exists():
            self.kept.mkdir(parents=True, exist_ok=True)
            beside = made.with_suffix(f".{id(self)}.tmp.o")
            python = f"-I{sysconfig.get_path('include')}"
            source = str(STAND_IN / "mmaproof_python.cpp")
            _run(["g++", CPP, "-O1", "-fPIC", "-w", "-c", source, "-o", str(beside), python, *self.includes])
            beside.replace(made)
        return made

    def extension(self, name: str, cpp: Sequence[Path], cuda: Sequence[Path], flags: Sequence[str]) -> Any:
        """Compile an extension, unless that is done, and import it.

        Raises
        ------
        NotRecordedError
            If it does not compile, or needs what the stand-ins don't have.
        """
        kept = [each for each in flags if KEPT_FLAGS.match(each)]
        text = "\n".join([*kept, self.target, *(each.read_text(encoding="utf-8") for each in (*cpp, *cuda))])
        library = self.folder / f"{name}_{hashlib.sha256(text.encode()).hexdigest()[:16]}.so"
        if not library.exists():
            self._compile(library, name, cpp, cuda, kept)
        for path in cuda:
            for ptx in (self.folder / f"{name}_{path.stem}").glob("*.ptx"):
                extension_calls.register(ptx)
        return _imported(library, name)

    def _compile(
        self, library: Path, name: str, cpp: Sequence[Path], cuda: Sequence[Path], kept: Sequence[str]
    ) -> None:
        """Compile an extension's files, and link them."""
        plain = [each for each in kept if each.startswith(("-D", "-U"))]
        jobs = []
        objects = [self.runtime()]
        for path in cpp:
            made = self.folder / f"{name}_{path.stem}_cpp.o"
            options = [CPP, "-O0", "-fPIC", "-w", *plain, *self.includes]
            jobs.append(["g++", *options, "-c", str(path), "-o", str(made)])
            objects.append(made)
        virtual = self.target.replace("sm_", "compute_")
        for path in cuda:
            binds = ["-DMMAPROOF_BINDS"] if "PYBIND11_MODULE" in path.read_text(encoding="utf-8") else []
            made, folder = self.folder / f"{name}_{path.stem}_cuda.o", self.folder / f"{name}_{path.stem}"
            folder.mkdir(exist_ok=True)
            jobs.append([
                str(self.nvcc), CPP, "-c", "-w", "-lineinfo", "--keep", "--keep-dir", str(folder),
                "-Xcompiler=-fPIC", *binds,
                "-gencode", f"arch={virtual},code={virtual}", str(path), "-o", str(made),
                *[each for each in kept if not each.startswith(("-std", "--std"))], *self.includes,
            ])  # fmt: skip
            objects.append(made)
        _run(*jobs)
        _run(["g++", "-shared", "-Wl,-Bsymbolic", "-o", str(library), *map(str, objects)])

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
            head = "#include <torch/types.h>\n#include <cuda.h>\n#include <cuda_runtime.h>\n#line 1\n"
            cuda.write_text(head + "\n".join(device), encoding="utf-8")
        flags = [*_listed(extra_cflags), *_listed(extra_cuda_cflags)]
        return self.extension(name, [cpp], [cuda] if device else [], flags)

    def load(
        self,
        name: str,
        sources: Any,
        extra_cflags: Any = None,
        extra_cuda_cflags: Any = None,
        *_: Any,
        **__: Any,
    ) -> Any:
        """See `torch.utils.cpp_extension.load`."""
        paths = [Path(each) for each in _listed(sources)]
        cuda = [each for each in paths if each.suffix == ".cu"]
        flags = [*_listed(extra_cflags), *_listed(extra_cuda_cflags)]
        return self.extension(name, [each for each in paths if each not in cuda], cuda, flags)


def _imported(library: Path, name: str) -> Any:
    """Import an extension that is compiled."""
    loader = importlib.machinery.ExtensionFileLoader("mmaproof_extension", str(library))
    spec = importlib.util.spec_from_file_location("mmaproof_extension", str(library), loader=loader)
    assert spec is not None
    try:
        module = importlib.util.module_from_spec(spec)
    except ImportError as reason:
        missing = str(reason).rpartition("undefined symbol: ")[2]
        raise NotRecordedError(f"the extension {name} calls {missing}, which is not recorded") from None
    loader.exec_module(module)
    return module


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


def _run(*commands: Sequence[str]) -> None:
    """Run compilers side by side."""
    running = [
        subprocess.Popen(each, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for each in commands
    ]
    said = [each.communicate()[0] for each in running]
    for each, text in zip(running, said, strict=True):
        if each.returncode:
            lines = [line for line in text.splitlines() if "error" in line.lower()] or text.splitlines()
            raise NotRecordedError(f"the extension does not compile without PyTorch: {(lines or ['?'])[0]}")
