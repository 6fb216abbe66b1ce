"""``mmaproof legal`` and ``tables``: the constraints on instructions."""

from __future__ import annotations

import csv
import io
import json as json_text
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Literal, NotRequired, TypedDict

import typer

from ..api import instructions
from ..refinement.machine.languages import LANGUAGES, opcode_rows
from ..reports.legality_answer import LegalityAnswer, no_instruction, not_modelled
from ..spec.errors import InputError, UnsupportedError
from ..spec.instruction_set import NAMES, instruction_set, of_target
from ..spec.json_fields import Keyword, Some
from ..spec.json_text import read_json
from ..version import __version__
from . import files
from .budget import doing
from .exit_codes import ExitCode
from .finding_output import result_files, running_on_github, tell_github
from .legality_input import is_comment, is_ptx, text_of_file, whole_text
from .output import json_line, markdown_lines, note, print_json, print_table, say
from .paging import NoPager, paged


class TableDocument(TypedDict):
    """What `tables --format json` writes.

    Attributes
    ----------
    schema : int
        Version of the document.
    isa : str
        Whose table it is.
    table : str
        Which one.
    rows : list of mapping of str to str
        Its cells by column; those that are empty may be left out.
    """

    schema: Literal[1]
    isa: str
    table: str
    rows: Some[Annotated[dict[str, str], Keyword("minProperties", 1)]]


class Request(TypedDict):
    """A line that `legal -` reads, when it is JSON.

    Attributes
    ----------
    instr : str
        The instruction.
    target : str
        The processor; by default the command's.
    ptx : str
        PTX version; by default the command's.
    registers : str
        Registers with their types; by default the command's.
    """

    instr: str
    target: NotRequired[str]
    ptx: NotRequired[str]
    registers: NotRequired[str]


class TableFormat(StrEnum):
    """How a table is written."""

    MARKDOWN = "markdown"
    MD = "md"
    CSV = "csv"
    JSON = "json"


def legal(
    instruction: Annotated[
        str,
        typer.Argument(
            metavar="INSTR|FILE|-",
            help="An instruction; a .pto or .ptx file; or -: stdin, one instruction a line or a module.",
        ),
    ],
    target: Annotated[
        str | None,
        typer.Option(
            help="The processor: power10, gfx942 (as in -mcpu), sm_90a (as in .target), A5 (PTO). "
            "By default the newest."
        ),
    ] = None,
    ptx: Annotated[
        str | None, typer.Option(metavar="VERSION", help="PTX version; other ISAs ignore it.")
    ] = None,
    registers: Annotated[
        str | None,
        typer.Option(metavar="LIST", help="Declarations of PTX names: '%r<10>:b32, %p1:pred, s:shared'."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    junit: Annotated[Path | None, typer.Option(metavar="FILE", help="With -: write JUnit XML.")] = None,
    sarif: Annotated[Path | None, typer.Option(metavar="FILE", help="With -: write SARIF 2.1.0.")] = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="With -: write a web page.")] = None,
) -> ExitCode:
    """Say whether an instruction is legal, or which rules it violates.

    With -, each line of standard input is an instruction or {"instr", "target", "ptx"}, and each answer
    is one line of JSON; a line that is no instruction violates the rule "syntax", one that is known but not
    judged is undecided ("legal": null). The status is 1 when any line is illegal, else 3 when any is
    undecided or there is none. A text that begins with module, func.func, .version or .reg is one answer, as
    a file is.
    """
    if target is not None:
        of_target(target)
    given = _Given(target, ptx, registers)
    if instruction == "-":
        return _judge_standard_input(given, {"junit": junit, "sarif": sarif, "html": html})
    if any((junit, sarif, html)):
        raise InputError("--junit, --sarif and --html are for standard input: mmaproof legal -")
    text = text_of_file(instruction)
    answer = _judged(instruction, given) if text is None else _of_text(instruction, text, given)
    if json:
        print_json(answer.document())
    else:
        first, *more = instruction.strip().splitlines() or [""]
        shown = f"{first} … ({len(more)} more lines)" if more else first
        where = f" on {answer.judgement.target}" if answer.judgement.target else ""
        say(f"{answer.word}{where}: {shown}")
        for violation in answer.judgement.violations:
            say(f"  {violation}")
            say(f"    {violation.rule.reason} ({violation.rule.source})")
        for remark in answer.judgement.notes:
            say(f"  note: {remark}")
    return _status([answer.legal])


@dataclass(frozen=True)
class _Given:
    """What an instruction is judged for, as the options or a line say."""

    target: str | None
    ptx: str | None
    registers: str | None


def _judged(instruction: str, given: _Given) -> LegalityAnswer:
    return instructions.legal(instruction, given.target, ptx=given.ptx, registers=given.registers)


def _of_text(name: str, text: str, given: _Given) -> LegalityAnswer:
    """Answer for a whole text, which the answer calls by a name."""
    if given.registers is not None:
        raise InputError("--registers needs a single instruction; a module declares its own registers")
    called = "standard input" if name == "-" else name
    try:
        if name.lower().endswith(".ptx") or (name == "-" and is_ptx(text)):
            from ..refinement.ptx.module_legality import judge_text

            return LegalityAnswer(name, judge_text(text, called, given.target, given.ptx))
        return _judged(text, given)._replace(instr=name)
    except InputError as reason:
        raise reason if reason.where is not None else InputError(str(reason), called) from None


def _judge_standard_input(given: _Given, wanted: Mapping[str, Path | None]) -> ExitCode:
    """Answer a whole text; or each line but blanks and comments, at once: a caller may wait for it."""
    start = time.perf_counter()
    reported = any(wanted.values()) or running_on_github()
    answers: list[tuple[int, LegalityAnswer]] = []
    found: set[bool | None] = set()
    with result_files(wanted) as fill:
        text, lines = whole_text(sys.stdin.buffer)
        for number, answer in (
            _answered_lines(lines, given) if text is None else [(1, _of_text("-", text, given))]
        ):
            found.add(answer.legal)
            print(json_line(answer.document()), flush=True)
            if reported:
                answers.append((number, answer))
        if reported:
            from ..reports.legal_report import report

            document = report(answers, __version__, time.perf_counter() - start)
            fill(document)
            tell_github(document, annotate=False)
    if not found:
        note("standard input has no instruction to judge")
    return _status(found)


def _status(answers: Collection[bool | None]) -> ExitCode:
    """Return the status of some answers; what is not judged is not legal."""
    if False in answers:
        return ExitCode.FAILS
    return ExitCode.HOLDS if answers and None not in answers else ExitCode.UNDECIDED


def _answered_lines(lines: Iterable[bytes], given: _Given) -> Iterator[tuple[int, LegalityAnswer]]:
    for number, raw in enumerate(lines, start=1):
        doing(f"judging line {number}")
        if (line := raw.decode("utf-8", errors="replace").strip()) and not is_comment(raw):
            yield number, _judged_line(line, given)


def _judged_line(line: str, given: _Given) -> LegalityAnswer:
    instruction = line
    try:
        if line.startswith("{"):
            instruction, given = _request(line, given)
        return _judged(instruction, given)
    except InputError as reason:
        return no_instruction(instruction, given.target, str(reason))
    except UnsupportedError as reason:
        return not_modelled(instruction, given.target, str(reason))


def _request(line: str, given: _Given) -> tuple[str, _Given]:
    request = read_json(line)
    instruction = request.get("instr")
    wanted = {name: request.get(name, default) for name, default in vars(given).items()}
    if not isinstance(instruction, str) or not all(v is None or isinstance(v, str) for v in wanted.values()):
        raise InputError(
            '"instr" and "target" must be strings, and "ptx" and "registers" where they are given'
        )
    return instruction, _Given(**wanted)


def tables(
    isa: Annotated[str, typer.Argument(metavar="[ISA]", help=f"One of {', '.join(NAMES)}.")] = NAMES[0],
    table_format: Annotated[
        TableFormat | None,
        typer.Option("--format", help="Output format; default: Markdown, rendered on a terminal."),
    ] = None,
    rules: Annotated[bool, typer.Option("--rules", help="The legality rules.")] = False,
    contradictions: Annotated[
        bool, typer.Option("--contradictions", help="Print contradictions between documents and tools.")
    ] = False,
    table: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Another table: machine-code, scalar, asynchronous or opcodes of PTX; types, buffers, tiles "
            "or blocks of PTO.",
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write here instead of stdout.")] = None,
    no_pager: NoPager = False,
) -> ExitCode:
    """Print the constraint table of the instructions, or the rules, or the contradictions behind it."""
    published = {**instruction_set(isa).tables, **_tables_of_kernels(isa)}
    asked = [name for name, wanted in (("rules", rules), ("contradictions", contradictions)) if wanted]
    asked += [] if table is None else [table]
    if len(asked) > 1:
        raise InputError(f"{' and '.join(asked)} are two tables: ask for one")
    name = asked[0] if asked else "instructions"
    if name not in published:
        raise InputError(f"{isa} has no table {name!r}; it has {', '.join(published)}")
    rows = published[name]()
    if not rows:
        note(f"the table of {name} of {isa} has no rows")
    if table_format is None and out is None and sys.stdout.isatty():
        with paged(wanted=not no_pager):
            print_table(*_cells(rows))
        return ExitCode.HOLDS
    match table_format:
        case TableFormat.CSV:
            text = _csv(rows)
        case TableFormat.JSON:
            document: TableDocument = {"schema": 1, "isa": isa, "table": name, "rows": rows}
            text = f"{json_text.dumps(document, indent=1)}\n"
        case _:
            text = _markdown(rows)
    if out is not None:
        files.write_text(out, text)
        return ExitCode.HOLDS
    with paged(wanted=not no_pager):
        print(text, end="")
    return ExitCode.HOLDS


def _tables_of_kernels(isa: str) -> Mapping[str, Callable[[], list[dict[str, str]]]]:
    """Return the tables of what kernels may use, of a language in which they are verified."""
    return {"opcodes": partial(opcode_rows, isa)} if isa in LANGUAGES else {}


def _markdown(rows: Sequence[dict[str, str]]) -> str:
    return "".join(f"{line}\n" for line in markdown_lines(*_cells(rows)))


def _csv(rows: Sequence[dict[str, str]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, _titles(rows), restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _cells(rows: Sequence[dict[str, str]]) -> tuple[list[str], list[list[str]]]:
    titles = _titles(rows)
    return titles, [[row.get(title, "") for title in titles] for row in rows]


def _titles(rows: Sequence[dict[str, str]]) -> list[str]:
    """Return the columns of all rows, in the order they first occur."""
    return list(dict.fromkeys(title for row in rows for title in row))
