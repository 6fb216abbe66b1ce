"""Reads contracts from TOML (`docs/contracts.md` describes every key)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ...spec.errors import InputError
from ...spec.power.choices import ALIASING
from ..findings.result import Equality
from ..formula.definitions import Definition
from ..formula.index_arithmetic import Expression
from ..formula.parser import parse_definition, parse_formula
from ..formula.tree import Formula, Name, Source, walk
from .accuracy_clauses import check_accuracy, read_accuracy
from .contract import (
    Accumulate,
    Contract,
    FormerKernel,
    LaunchExtents,
    LaunchStep,
    Order,
    Synchronisation,
    passed_to,
)
from .empty_grids import without_blocks
from .formula_checking import check_formula
from .parameter_reading import BLOCK_NUMBER, check_name, expression, expressions, read_parameters
from .parameters import ArrayParameter, Covers, Parameters, Passed, ScalarParameter
from .required_conditions import with_requirements
from .size_domains import QuantifiedSizes, is_domain, read_domain, sweep
from .size_polynomials import SizePolynomials
from .toml_document import Table, parse_document, read_document, shown

ISAS = ("ptx", "power", "pto")
OF_MALLOC = 16
"""Alignment in bytes of a pointer to a function of which a contract says nothing."""

SECTIONS = ("kernel", "launch", "sizes", "param", "array", "buffer", "requires", "ensures", "against")
KERNEL = ("isa", "entry", "target")
KERNELS = MappingProxyType(
    {
        "ptx": (*KERNEL, "wgmma", "tcgen05", "mbarrier"),
        "power": (*KERNEL, ALIASING.name),
        "pto": ("isa", "entry", "profile", "target", "sync"),
    }
)
LAUNCH = ("grid", "block", "dynamic_shared", "cluster")
HOST = ("host", "source", "params")
"""Keys of a step of the host between launches."""

LAUNCHES = ("entry", *LAUNCH, "params", "host", "source")
AGAINST = ("entry", *LAUNCH, "equality")
AGAINST_SEVERAL = ("entry", *LAUNCH, "params", "equality")
REQUIRES = ("conditions",)
ENSURES = ("formula", "let", "reference", "accumulate", "equality", "error", "max_relative")


def read_contract(path: Path) -> Contract:
    """Read a contract.

    Raises
    ------
    InputError
        If it is no contract; the message names the line, the value and what is allowed.
    """
    return _contract(read_document(path))


def parse_contract(text: str, file: str = "contract") -> Contract:
    """Read a contract from text; raises as `read_contract`."""
    return _contract(parse_document(text, file))


def _contract(document: Table) -> Contract:
    document.check_keys(SECTIONS)
    kernel, ensures = document.table("kernel"), document.table("ensures")
    isa = kernel.values.get("isa")
    kernel.check_keys(KERNELS.get(isa, KERNEL) if isinstance(isa, str) else KERNEL)
    if kernel.values.get("isa") == "power":
        document = _as_function(document)
    several = isinstance(document.values.get("launch"), list)
    if several and not document.tables("launch"):
        raise document.error("launch", "launch is an empty list; a launch has grid and block")
    launch = document.tables("launch")[0] if several else document.table("launch")
    _check_launch(launch, kernel, LAUNCHES if several else LAUNCH)
    olds = document.tables("against") if isinstance(document.values.get("against"), list) else []
    against = olds[0] if olds else document.table("against")
    against.check_keys(AGAINST_SEVERAL if olds else AGAINST)
    ensures.check_keys(ENSURES)
    kernel.require("isa", f"one of {', '.join(ISAS)}")
    sizes, quantified = _sizes(document)
    read = read_parameters(document, sizes[0])
    parameters = read.values
    reference = ensures.text("reference")
    if reference is not None and "formula" in ensures.values:
        raise ensures.error("reference", "a contract has formulas or a reference, not both")
    if reference is not None and "let" in ensures.values:
        raise ensures.error("let", "let names parts of formulas; a reference has variables of its own")
    launches = tuple(_launches(document, "launch", read, sizes[0])) if several else ()
    former_launches = tuple(_launches(document, "against", read, sizes[0])) if olds else ()
    if launches and against.values and not against.values.keys() & set(LAUNCH):
        raise against.error(None, "[against] needs a grid and a block of its own beside several [[launch]]")
    taken = {*sizes[0], *(each.name for each in parameters)}
    contract = Contract(
        document.file,
        kernel.choice("isa", ISAS, ""),
        kernel.text("entry"),
        _target(kernel),
        _launch(launch, sizes[0]),
        FormerKernel(
            against.text("entry"),
            _launch(against, sizes[0], None if several or olds else launch),
            Equality(against.choice("equality", list(Equality), Equality.VALUE)),
            former_launches,
        ),
        tuple(sizes),
        parameters,
        read.pointers,
        read.buffers,
        read.passing,
        _formulas(ensures, taken) if "ensures" in document.values and reference is None else (),
        Accumulate(ensures.choice("accumulate", list(Accumulate), Accumulate.UNSPECIFIED)),
        Equality(ensures.choice("equality", list(Equality), Equality.VALUE)),
        None if reference is None else Source(reference, "reference", ensures.where("reference")),
        launches,
        warpgroup_order=_order(kernel, "wgmma", Order.WRITTEN),
        fence_order=_order(kernel, "tcgen05", Order.ASSEMBLED),
        object_order=_order(kernel, "mbarrier", Order.WRITTEN),
        synchronisation=_synchronisation(kernel),
        aliasing=kernel.choice(ALIASING.name, ALIASING.option_names, ALIASING.default),
    )
    if quantified is not None:
        contract = _with_empty_grid(replace(contract, quantified=quantified), quantified)
        _check_quantified(contract, quantified)
    _check_instruction_set(contract)
    contract = with_requirements(contract, _requirements(document))
    for formula in contract.formulas:
        check_formula(contract, formula)
    contract = _with_accuracy(contract, ensures, taken)
    outputs = {formula.output for formula in contract.formulas}
    for parameter in parameters:
        written = isinstance(parameter, ArrayParameter) and parameter.access.is_output
        if written and contract.formulas and parameter.name not in outputs:
            raise ensures.error("formula", f"{parameter.name} is an output, but has no formula")
        if (
            isinstance(parameter, ArrayParameter)
            and parameter.covers is Covers.PART
            and "ensures" in document.values
        ):
            raise InputError(
                f"{parameter.name} has covers, which is for contracts without [ensures]; a formula states by "
                f"`if` which elements it covers",
                parameter.where,
            )
    return contract


def _check_instruction_set(contract: Contract) -> None:
    """Refuse parameters that kernels of other instruction sets alone have."""
    for parameter in contract.parameters:
        if isinstance(parameter, ScalarParameter) and parameter.of_launch and contract.isa != "pto":
            raise InputError(f'value = "{BLOCK_NUMBER}" is for isa = "pto" only', parameter.where)
        if isinstance(parameter, ArrayParameter) and parameter.variable is not None and contract.isa != "ptx":
            raise InputError(f'variable = "{parameter.variable}" is for isa = "ptx" only', parameter.where)


def _check_launch(launch: Table, kernel: Table, keys: Sequence[str]) -> None:
    """Check the keys of a launch; clusters are of PTX."""
    launch.check_keys(keys)
    if "cluster" in launch.values and kernel.values.get("isa") != "ptx":
        raise launch.error("cluster", 'only kernels of isa = "ptx" are launched in clusters')


def _target(kernel: Table) -> str | None:
    """Return the processor that a kernel is for; that of PTO is called a profile too."""
    if "profile" not in kernel.values:
        return kernel.text("target")
    if "target" in kernel.values:
        raise kernel.error("target", "profile and target have the same meaning; give one of them")
    return kernel.text("profile")


def _order(kernel: Table, opcode: str, default: Order) -> Order:
    allowed = [each for each in Order if each is not Order.IN_ORDER or opcode == "tcgen05"]
    return Order(kernel.choice(opcode, allowed, default))


def _synchronisation(kernel: Table) -> Synchronisation | None:
    if "sync" not in kernel.values:
        return None
    return Synchronisation(kernel.choice("sync", list(Synchronisation), Synchronisation.INSERTED))


def _as_function(document: Table) -> Table:
    """Return a contract of a function, whose memory is aligned as `malloc` does where nothing is said.

    Raises
    ------
    InputError
        If it says a launch: a function is only called.
    """
    for name in ("launch", "against"):
        described = document.values.get(name, {})
        keys = described if isinstance(described, dict) else {}
        given = next((key for key in (*LAUNCH, "params") if key in keys), None)
        if given is not None:
            raise document.table(name).error(
                given, f'isa = "power" verifies functions, which have no {given}'
            )

    def aligned(name: str, table: Mapping[str, Any]) -> Mapping[str, Any]:
        in_memory = name == "buffer" or "shape" in table or isinstance(table.get("to"), list)
        return {"alignment": OF_MALLOC, **table} if in_memory and "within" not in table else table

    values = dict(document.values)
    for name in ("param", "array", "buffer"):
        values[name] = [aligned(name, each.values) for each in document.tables(name)]
    return replace(document, values=values)


# -- sizes and expressions in them


def _sizes(document: Table) -> tuple[list[Mapping[str, int]], QuantifiedSizes | None]:
    """Read the sets of sizes; of sizes that may be any number of a domain, those that stand in for all."""
    tables = document.tables("sizes")
    for table in tables if len(tables) > 1 else ():
        for name, value in table.values.items():
            if is_domain(value):
                raise table.error(name, f"{name} = {shown(value)} takes one table of [sizes], not several")
    if len(tables) == 1 and any(map(is_domain, tables[0].values.values())):
        return _quantified(document, tables[0])
    found: list[Mapping[str, int]] = [_size_set(table) for table in tables] or [{}]
    for number, sizes in enumerate(found):
        if sizes.keys() != found[0].keys():
            odd = ", ".join(sorted(sizes.keys() ^ found[0].keys()))
            raise tables[number].error(
                None, f"every [[sizes]] names the same sizes; not all of them have {odd}"
            )
    return found, None


def _quantified(document: Table, table: Table) -> tuple[list[Mapping[str, int]], QuantifiedSizes]:
    """Read sizes of which some may be any number of a domain."""
    domains = [
        read_domain(check_name(table, name, name, "a size"), value, table.where(name))
        for name, value in table.values.items()
        if is_domain(value)
    ]
    launches = document.values.get("launch", {})
    grids = str(
        [launch.get("grid", 1) for launch in (launches if isinstance(launches, list) else [launches])]
    )
    in_grid = [domain.name for domain in domains if re.search(rf"\b{domain.name}\b", grids)]
    found: list[Mapping[str, int]] = []
    for chosen in sweep(domains, in_grid):
        values = {name: chosen.get(name, value) for name, value in table.values.items()}
        found.append(_size_set(replace(table, values=values)))
    derived = {
        name: expression(table, name, value, found[0])
        for name, value in table.values.items()
        if not is_domain(value)
    }
    return found, QuantifiedSizes(tuple(domains), derived)


def _with_empty_grid(contract: Contract, quantified: QuantifiedSizes) -> Contract:
    """Return a contract that lists the smallest sizes at which a launch has no blocks among its first."""
    launches = (contract.launch, *(launch.extents for launch in contract.launches))
    empty = without_blocks([extent for launch in launches for extent in launch.grid], quantified)
    if empty is None:
        return contract
    first, *others = contract.sizes
    sizes = quantified.completed(empty)
    return replace(contract, sizes=_distinct([first, {name: sizes[name] for name in first}, *others]))


def _distinct(sets: Sequence[Mapping[str, int]]) -> tuple[Mapping[str, int], ...]:
    return tuple(each for place, each in enumerate(sets) if each not in sets[:place])


def _check_quantified(contract: Contract, quantified: QuantifiedSizes) -> None:
    """Refuse what can't be for every number of a domain: blocks of any size, shapes with a rest."""
    polynomials = SizePolynomials(quantified)
    names = " and ".join(domain.name for domain in quantified.domains)
    steps = (*contract.launches, *contract.former.launches)
    for launch in (contract.launch, contract.former.launch, *(step.extents for step in steps)):
        shared = [launch.dynamic_shared] if launch.dynamic_shared else []
        for extent in (*launch.block, *launch.cluster, *shared):
            if polynomials.varies(extent):
                raise extent.source.error(
                    0,
                    f"{extent.source.text} depends on {names}, which may take many values, but a kernel is "
                    "compiled for one block size",
                )
    for parameter in contract.parameters:
        if isinstance(parameter, ArrayParameter):
            if parameter.variable is not None:
                what = f"{parameter.name} lies in a variable of the module, but {names} may be any number"
                raise InputError(f"{what}; list its sizes instead", parameter.where)
            for extent in parameter.shape:
                polynomials.of(extent)


def _size_set(table: Table) -> dict[str, int]:
    """Read one set of sizes, each an integer or an expression in those above it."""
    sizes: dict[str, int] = {}
    for name, value in table.values.items():
        check_name(table, name, name, "a size")
        if isinstance(value, list):
            raise table.error(name, f"{name} is one number: write a table [[sizes]] for each set of sizes")
        sizes[name] = expression(table, name, value, sizes).value(sizes, -(2**31), 2**31)
    return sizes


def _launches(
    document: Table, section: str, read: Parameters, sizes: Mapping[str, int]
) -> Iterator[LaunchStep]:
    """Yield several launches, each with what it takes of the parameters by name."""
    former = section == "against"
    if "entry" in document.table("kernel").values and not former:
        raise document.table("kernel").error("entry", "every [[launch]] of several has an entry of its own")
    other = Passed.NEW if former else Passed.OLD
    passing = passed_to(other, read.passing, (*read.values, *read.pointers))
    passed = {each if isinstance(each, str) else each.name: each for each in passing}
    left = set(passed)
    for table in document.tables(section):
        table.check_keys(AGAINST_SEVERAL if former else LAUNCHES)
        names = table.values.get("params", list(passed))
        if not isinstance(names, list) or not all(isinstance(each, str) for each in names):
            raise table.error("params", f"params must be a list of names of parameters, not {shown(names)}")
        for name in names:
            if name not in passed:
                raise table.error(
                    "params", f"there is no parameter {shown(name)}; there are: {', '.join(passed)}"
                )
        left -= set(names)
        taken = tuple(passed[name] for name in names)
        yield LaunchStep(
            table.text("entry"), _launch(table, sizes), taken, _host(table), table.text("source")
        )
    if left:
        raise document.tables(section)[-1].error("params", f"no launch takes {', '.join(sorted(left))}")


def _host(table: Table) -> Source | None:
    """Read what the host does in place of a launch."""
    host = table.text("host")
    if host is None:
        if "source" in table.values:
            raise table.error("source", "source is for host steps only: add host, or remove source")
        return None
    if others := [key for key in table.values if key not in HOST]:
        raise table.error(others[0], f"a host step is not a launch; {others[0]} is not allowed")
    return Source(host, "host", table.where("host"))


def _launch(launch: Table, sizes: Mapping[str, int], default: Table | None = None) -> LaunchExtents:
    """Read a launch, and from another one the keys that it lacks."""
    grid, block, shared, cluster = (
        launch if key in launch.values or default is None else default for key in LAUNCH
    )
    size = shared.values.get("dynamic_shared")
    return LaunchExtents(
        _extents(grid, "grid", sizes),
        _extents(block, "block", sizes),
        None if size is None else expression(shared, "dynamic_shared", size, sizes),
        _extents(cluster, "cluster", sizes) if "cluster" in cluster.values else (),
    )


def _extents(launch: Table, key: str, sizes: Mapping[str, int]) -> tuple[Expression, ...]:
    value = launch.values.get(key, 1)
    values = value if isinstance(value, list) else [value]
    if not 1 <= len(values) <= 3:
        raise launch.error(key, f"{key} has one to three extents [x, y, z], not {len(values)}")
    return expressions(launch, key, values, sizes)


# -- conditions and formulas


def _requirements(document: Table) -> list[Source]:
    """Read the conditions that inputs meet."""
    if "requires" not in document.values:
        return []
    requires = document.table("requires")
    requires.check_keys(REQUIRES)
    requires.require("conditions", 'what holds of the inputs, such as ["abs(X[i, k]) <= 1e4", "scale > 0"]')
    where = requires.where("conditions")
    return [Source(text, "condition", where) for text in _texts(requires, "conditions")]


def _texts(ensures: Table, key: str) -> list[str]:
    value = ensures.values[key]
    texts = value if isinstance(value, list) else [value]
    if not texts or not all(isinstance(text, str) for text in texts):
        raise ensures.error(key, f"{key} must be a string or a list of strings, not {shown(value)}")
    return texts


def _definitions(ensures: Table, taken: Collection[str]) -> dict[str, Definition]:
    """Read the names for parts of formulas, each of which may use those above it."""
    found: dict[str, Definition] = {}
    for text in _texts(ensures, "let") if "let" in ensures.values else ():
        source = Source(text, "let", ensures.where("let"))
        definition = parse_definition(source, found)
        if definition.name in taken:
            raise source.error(0, f"{definition.name} is a size or a parameter; name the part otherwise")
        found[definition.name] = definition
    return found


def _with_accuracy(contract: Contract, ensures: Table, taken: Collection[str]) -> Contract:
    """Return a contract with what it says of errors, if it does."""
    definitions = _definitions(ensures, taken) if "error" in ensures.values else {}
    clause = read_accuracy(ensures, contract.formulas, definitions)
    if clause is None:
        return contract
    if contract.quantified is not None:
        raise InputError(
            "error and max_relative need sizes that are numbers: the error depends on them",
            clause.where,
        )
    for error in clause.errors.values():
        check_formula(contract, error.formula)
    formats = {
        parameter.name: parameter.format
        for parameter in contract.parameters
        if isinstance(parameter, ArrayParameter)
    }
    written = [
        parameter.name
        for parameter in contract.parameters
        if isinstance(parameter, ArrayParameter) and parameter.access.is_output
    ]
    check_accuracy(clause, ensures, formats, [formula.output for formula in contract.formulas] or written)
    return replace(contract, accuracy=clause)


def _formulas(ensures: Table, taken: Collection[str]) -> tuple[Formula, ...]:
    ensures.require("formula", 'what is computed, such as "C[i, j] = sum(k, A[i, k] * B[k, j])"')
    where = ensures.where("formula")
    definitions = _definitions(ensures, taken)
    texts = _texts(ensures, "formula")
    formulas = tuple(parse_formula(Source(text, "formula", where), definitions) for text in texts)
    targets = [node.name for formula in formulas for node in walk(formula.target) if isinstance(node, Name)]
    for definition in definitions.values():
        definition.check_names({*taken, *targets})
    outputs = [formula.output for formula in formulas]
    for formula in formulas:
        if outputs.count(formula.output) > 1:
            raise formula.source.error(0, f"there are two formulas for {formula.output}")
    return formulas
