"""Source files of kernels: found compilers, their commands, and what is said when they refuse."""

from __future__ import annotations

import shutil
import stat
from pathlib import Path

import pytest
from command_line import mmaproof

from mmaproof.api.compiling import compiled, is_source
from mmaproof.spec.errors import InputError

POWER = shutil.which("powerpc64le-linux-gnu-gcc-12") or shutil.which("powerpc64le-linux-gnu-gcc")

ADDITION = """void add(float *restrict y, const float *restrict x) {
  for (int i = 0; i < 8; i++) y[i] = x[i] + x[i];
}
"""

CONTRACT = """[kernel]
isa = "power"
[[param]]
name = "y"
type = "f32"
shape = [8]
access = "out"
[[param]]
name = "x"
type = "f32"
shape = [8]
access = "in"
[ensures]
formula = "y[i] = x[i] + x[i]"
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kernel.cu").write_text("", encoding="utf-8")
    (tmp_path / "add.c").write_text(ADDITION, encoding="utf-8")
    (tmp_path / "add.toml").write_text(CONTRACT, encoding="utf-8")
    return tmp_path


def compiler(folder: Path, script: str) -> str:
    """Write a program that takes the place of a compiler."""
    program = folder / "compiler"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return str(program)


def test_sources_are_told_by_their_suffix() -> None:
    assert is_source(Path("a.cu")) and is_source(Path("a.c")) and is_source(Path("a.cpp"))
    assert not is_source(Path("a.ptx")) and not is_source(Path("a.s")) and not is_source(Path("a.o"))


def test_cuda_is_compiled_to_ptx_with_lines(folder: Path) -> None:
    nvcc = compiler(folder, 'while [ "$1" != -o ]; do shift; done; echo text > "$2"')
    made = compiled("kernel.cu", "sm_90a", compiler=nvcc, flags=["-DN=4"])
    assert made.path == Path("mmaproof-compiled/kernel.sm_90a.ptx")
    assert made.command == f"{nvcc} -arch=sm_90a -lineinfo -ptx -DN=4 kernel.cu -o {made.path}"
    assert made.path.read_text(encoding="utf-8") == "text\n"


def test_sources_of_one_name_are_compiled_to_files_of_their_own(folder: Path) -> None:
    copying = compiler(folder, 'while [ "$1" != -o ]; do from="$1"; shift; done; cp "$from" "$2"')
    sources = [Path(each) for each in ("kernel.cu", "old/kernel.cu", "kernel.c", "kernel.cpp")]
    sources.append(folder.parent / f"{folder.name}-beside" / "kernel.cu")
    for source in sources:
        source.parent.mkdir(exist_ok=True)
        source.write_text(str(source), encoding="utf-8")
    made = [compiled(source, compiler=copying) for source in sources]
    assert [each.path.read_text(encoding="utf-8") for each in made] == [str(source) for source in sources]
    assert made[1].path == Path("mmaproof-compiled/old/kernel.sm_80.ptx")


def test_a_folder_that_can_not_be_made_is_told(folder: Path) -> None:
    (folder / "mmaproof-compiled").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match=r"kernel\.cu: mmaproof-compiled can't be made"):
        compiled(Path("kernel.cu"), compiler="true")


def test_the_compiler_of_the_environment_is_taken(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nvcc = compiler(folder, 'while [ "$1" != -o ]; do shift; done; echo text > "$2"')
    monkeypatch.setenv("NVCC", nvcc)
    assert compiled(Path("kernel.cu")).command.startswith(f"{nvcc} -arch=sm_80 ")


def test_what_a_compiler_refuses_is_told_and_nothing_is_left(folder: Path) -> None:
    refusing = compiler(folder, "echo 'kernel.cu(3): error: no such thing' >&2; exit 2")
    with pytest.raises(InputError, match=r"kernel\.cu\(3\): error: no such thing"):
        compiled(Path("kernel.cu"), compiler=refusing)
    assert list(folder.glob("mmaproof-compiled/*")) == []


def test_a_missing_compiler_is_wrong_use(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="/nowhere/nvcc can't be run"):
        compiled(Path("kernel.cu"), compiler="/nowhere/nvcc")
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("NVCC", raising=False)
    monkeypatch.setattr("sys.path", [])
    with pytest.raises(InputError, match="no compiler found: install CUDA's toolkit"):
        compiled(Path("kernel.cu"))


def test_options_of_compilers_are_for_sources(folder: Path) -> None:
    (folder / "kernel.ptx").write_text("", encoding="utf-8")
    told = mmaproof("verify", "kernel.ptx", "--contract", "add.toml", "--target", "sm_90")
    assert told.wrong_use and "--target is for source files (.cu, .c" in told.err


@pytest.mark.skipif(POWER is None, reason="no gcc for Power")
def test_a_function_in_c_is_verified() -> None:
    told = mmaproof("verify", "add.c", "--contract", "add.toml")
    assert told.status == 0
    assert told.out.startswith(
        "verified (bits): mmaproof-compiled/add.power10.o computes y as add.toml says\n"
    )
    assert "-mcpu=power10 -O2 -g -c add.c -o mmaproof-compiled/add.power10.o" in told.err


@pytest.mark.skipif(POWER is None, reason="no gcc for Power")
def test_a_fault_of_a_function_in_c_is_told_in_its_source(folder: Path) -> None:
    (folder / "add.c").write_text(ADDITION.replace("i < 8", "i < 9"), encoding="utf-8")
    told = mmaproof("verify", "add.c", "--contract", "add.toml")
    assert told.status == 1 and "add.c:2" in told.out and "out-of-bounds" in told.out


def test_a_source_is_never_taken_for_an_option(folder: Path) -> None:
    (folder / "-dash.cu").write_text("", encoding="utf-8")
    nvcc = compiler(folder, 'while [ "$1" != -o ]; do shift; done; echo text > "$2"')
    assert " ./-dash.cu -o " in compiled(Path("-dash.cu"), compiler=nvcc).command


def test_an_edited_source_or_other_flags_get_a_file_of_their_own(folder: Path) -> None:
    nvcc = compiler(folder, 'while [ "$1" != -o ]; do shift; done; date +%N > "$2"')
    first = compiled(Path("kernel.cu"), compiler=nvcc)
    assert compiled(Path("kernel.cu"), compiler=nvcc).path == first.path
    flagged = compiled(Path("kernel.cu"), compiler=nvcc, flags=["-DN=1"])
    (folder / "kernel.cu").write_text("// edited\n", encoding="utf-8")
    edited = compiled(Path("kernel.cu"), compiler=nvcc)
    assert len({first.path, flagged.path, edited.path}) == 3


def test_a_file_that_is_compared_with_is_not_written_over(folder: Path) -> None:
    nvcc = compiler(folder, 'while [ "$1" != -o ]; do shift; done; echo new > "$2"')
    old = folder / "mmaproof-compiled" / "kernel.sm_80.ptx"
    old.parent.mkdir()
    old.write_text("old\n", encoding="utf-8")
    made = compiled(Path("kernel.cu"), compiler=nvcc, apart_from=old)
    assert made.path.resolve() != old and old.read_text(encoding="utf-8") == "old\n"


@pytest.mark.skipif(POWER is None, reason="no gcc for Power")
def test_an_edited_source_is_compared_with_what_was_compiled_before(folder: Path) -> None:
    (folder / "pair.toml").write_text(CONTRACT.partition("[ensures]")[0], encoding="utf-8")
    old = compiled(Path("add.c")).path
    (folder / "add.c").write_text(ADDITION.replace("x[i] + x[i]", "x[i]"), encoding="utf-8")
    told = mmaproof("verify", "add.c", "--contract", "pair.toml", "--against", old)
    assert told.status == 1 and "does not compute" in told.out
