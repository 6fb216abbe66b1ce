"""Products of warpgroups: each warp multiplies its 16 rows, as early or as late as its wait allows.

A warp meets at the instruction; the four of a warpgroup need not wait for each other, but must execute the
same instructions with the same descriptors. From the issue of a product until a wait covers its group, its D
holds anything, and A in registers and operands in shared memory are read whenever the seed says. Registers
that the warp has used since its last ``wgmma.fence`` hold anything as a product sees them, and so do bytes
that threads have stored and no ``fence.proxy.async`` has followed.
Source: PTX ISA 9.1 section 9.7.15.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from interpreter import ptx_shared_operands
from interpreter import ptx_warpgroup_fragments as fragments
from interpreter.ptx_accesses import elements_of
from interpreter.ptx_integers import Unknown
from interpreter.ptx_memory import Fault
from interpreter.ptx_threads import WARP, Block, Code, Decoder, Run, State, Thread
from interpreter.ptx_warpgroup_fragments import ROWS
from interpreter.ptx_warps import ALGEBRA, CHOICES, together, whole
from numpy.typing import NDArray

from mmaproof.refinement.ptx.text.module import Function, InstructionStatement
from mmaproof.refinement.ptx.text.operands import register_names
from mmaproof.spec.ptx.operands import Integer, Vector
from mmaproof.spec.ptx.product import Matrices
from mmaproof.spec.ptx.resolution import multiplication
from mmaproof.spec.ptx.signatures import signatures
from mmaproof.spec.ptx.warpgroup import Scales, warpgroup_product

WARPS = 4


def registers_of_products(function: Function) -> frozenset[str]:
    """Return the registers of D and A of the products of a kernel."""
    found = [each.operands[:2] for each in function.body if each.opcode == "wgmma" and each.has("mma_async")]
    return frozenset(name for operands in found for name in register_names(operands))


def touching(i: InstructionStatement, run: Run, watched: frozenset[str]) -> Run:
    """Return what notes which registers of products an instruction uses that is none."""
    names = watched.intersection(register_names(i.operands))
    if i.opcode == "wgmma" or not names:
        return run

    def noting(thread: Thread) -> int | None:
        thread.touched |= names
        return run(thread)

    return noting


@dataclass(eq=False)
class _Product:
    """A product that no wait has covered; what computes it, and which registers hold its D."""

    compute: Callable[[], None]
    names: tuple[str, ...]
    computed: bool = False

    def run(self) -> None:
        """Compute it, if that has not been done."""
        if not self.computed:
            self.computed = True
            self.compute()


@dataclass
class WarpProducts:
    """What a warp has under way.

    Attributes
    ----------
    executed : list of tuple
        Its instructions that a whole warpgroup has to execute, with what has to be the same.
    groups : list of list
        Products that no wait has covered, the last group open.
    results : dict of str to list of int
        What registers of D that are under way hold, by lane, after the products computed so far.
    shapes : dict of str to str
        What shape of product used a register as its D since the last fence.
    fenced : bool
        Whether there has been a fence.
    """

    executed: list[tuple[Any, ...]] = field(default_factory=list)
    groups: list[list[_Product]] = field(default_factory=lambda: [[]])
    results: dict[str, list[int]] = field(default_factory=dict)
    shapes: dict[str, str] = field(default_factory=dict)
    fenced: bool = False

    def complete(self, threads: list[Thread], allowed: int) -> None:
        """Compute all groups but the last ones, and let the registers of those hold D that no other uses."""
        while len(self.groups) - 1 > allowed:
            done = self.groups.pop(0)
            for each in done:
                each.run()
            under_way = {name for group in self.groups for each in group for name in each.names}
            for name in {name for each in done for name in each.names} - under_way:
                for thread, value in zip(threads, self.results.pop(name), strict=True):
                    thread.registers[name] = value


def _products(threads: list[Thread]) -> WarpProducts:
    block: Block = threads[0].block
    found = block.products.setdefault(threads[0].number // WARP, WarpProducts())
    assert isinstance(found, WarpProducts)
    return found


def _execute(threads: list[Thread], i: InstructionStatement, *same: int) -> WarpProducts:
    """Note what a warp executes, and compare it with the other warps of its warpgroup."""
    whole(threads, i)
    thread, found = threads[0], _products(threads)
    first = thread.number // WARP // WARPS * WARPS
    if len(thread.block.threads) < (first + WARPS) * WARP:
        raise Fault("divergence", f"{i.mnemonic} by a warpgroup that has not four warps")
    place = len(found.executed)
    found.executed.append((thread.pc, *same))
    for warp in range(first, first + WARPS):
        other = thread.block.products.get(warp)
        if other is None or len(other.executed) <= place:
            continue
        if other.executed[place][0] != thread.pc:
            raise Fault("divergence", f"the warps of a warpgroup differ over {i.mnemonic} in line {i.line}")
        if other.executed[place] != found.executed[place]:
            raise Fault("undefined", f"operands of {i.mnemonic} in line {i.line} differ between warps")
    return found


def check_ended(thread: Thread) -> None:
    """Compare how much the warps of a warpgroup have executed, when all of its threads have ended.

    Raises
    ------
    Fault
        If one has executed less.
    """
    products = thread.block.products
    if not products:
        return
    first = thread.number // (WARPS * WARP) * WARPS
    threads = thread.block.threads[first * WARP : (first + WARPS) * WARP]
    if all(each.state is State.DONE for each in threads):
        counts = {len(products.get(first + warp, WarpProducts()).executed) for warp in range(WARPS)}
        if len(counts) > 1:
            raise Fault("divergence", "the warps of a warpgroup have not executed the same wgmma")


# -- what orders products


def _fence(code: Code, i: InstructionStatement) -> Run:
    def finish(threads: list[Thread]) -> None:
        products = _execute(threads, i)
        products.fenced = True
        products.shapes.clear()
        for thread in threads:
            thread.touched.clear()

    return together(finish, i, None)


def _commit(code: Code, i: InstructionStatement) -> Run:
    return together(lambda threads: _execute(threads, i).groups.append([]), i, None)


def _wait(code: Code, i: InstructionStatement) -> Run:
    (count,) = i.operands
    if not isinstance(count, Integer):
        raise Unknown(f"{i.mnemonic} {count}")
    allowed = count.value
    return together(lambda threads: _execute(threads, i).complete(threads, allowed), i, None)


def proxy_fence(code: Code, i: InstructionStatement) -> Run:
    """Decode ``fence.proxy.async``: what was stored before, products see."""

    def run(thread: Thread) -> None:
        for region in thread.spaces["shared"].regions:
            if region.stale is not None:
                region.stale[:] = bytes(len(region.stale))

    return (lambda thread: None) if "global" in i.modifiers else run


# -- products


class _Multiplication:
    """A ``wgmma.mma_async``, decoded once."""

    def __init__(self, code: Code, i: InstructionStatement) -> None:
        self._code, self._i = code, i
        self._form = form = multiplication(i.specified().variant)
        names = signatures(form.form, form.variant)[isinstance(i.operands[1], Vector)]  # type: ignore[arg-type]
        given = dict(zip((name.name for name in names), i.operands, strict=True))
        self._d = tuple(each.name for each in elements_of(given["d"]))
        self._a = tuple(each.name for each in elements_of(given["a"])) if "a" in given else ()
        self._descriptors = {
            role: code.reader(given[f"{role}-desc"], 64) for role in "ab" if f"{role}-desc" in given
        }
        self._counts = code.reader(given["scale-d"], 1)
        self._metadata = code.reader(*elements_of(given["metadata"]), 32) if form.sparsity else None
        self._selector = _number(given, "selector", 0)
        self._signs = _number(given, "scale-a", 1), _number(given, "scale-b", 1)
        self._transposed = {role: _number(given, f"trans-{role}", 0) == 1 for role in "ab"}
        self._shape = f"{form.shape} {form.d}"
        self._early = code.eager ^ bool(code.seed >> 1 & 1)

    def issue(self, threads: list[Thread]) -> None:
        """Begin the product of a warp."""
        i = self._i
        said = {
            role: _same([read(thread) for thread in threads], i) for role, read in self._descriptors.items()
        }
        counts = _same([self._counts(thread) for thread in threads], i)
        nibbles = None
        if self._metadata is not None:
            words = [self._metadata(thread) for thread in threads]
            nibbles = fragments.metadata(words, self._form.a.bits, self._selector)
        products = _execute(threads, i, *said.values(), counts)
        loose = _unordered(threads, products, self._d, self._shape)
        for name in self._d:
            if name not in products.results and counts:
                products.results[name] = [thread.registers[name] for thread in threads]
        self._spoil(products, [*loose, *(each for each in self._d if each not in products.results)])
        self._scramble(threads, _unordered(threads, products, self._a, ""))

        def compute() -> None:
            self._compute(threads, products, said, nibbles, counts=bool(counts))
            self._spoil(products, loose)

        product = _Product(compute, self._d)
        products.groups[-1].append(product)
        if self._early:
            product.run()
        products.shapes.update(dict.fromkeys(self._d, self._shape))
        self._scramble(threads, self._d)

    def _spoil(self, products: WarpProducts, names: Iterable[str]) -> None:
        for name in names:
            products.results[name] = [self._code.noise.getrandbits(32) for _ in range(WARP)]

    def _scramble(self, threads: list[Thread], names: Iterable[str]) -> None:
        for name in names:
            for thread in threads:
                thread.registers[name] = self._code.noise.getrandbits(32)

    def _compute(
        self,
        threads: list[Thread],
        products: WarpProducts,
        said: Mapping[str, int],
        nibbles: NDArray[Any] | None,
        *,
        counts: bool,
    ) -> None:
        """Read what the product reads, and put D where the wait will find it."""
        form, bits = self._form, self._form.d.bits
        held = {role: self._in_memory(threads, role, value) for role, value in said.items()}
        if self._a:
            words = [[thread.registers[name] for name in self._a] for thread in threads]
            held["a"] = fragments.multiplicand(words, form.a.bits)
        old = np.array([products.results[name] for name in self._d], dtype=np.uint64).T
        held |= {"b": held["b"].T, "c": fragments.accumulator(old, bits)}
        typed = {role: each.astype(form.format(role).storage) for role, each in held.items()}
        scales = Scales(counts, *self._signs)
        d = warpgroup_product(ALGEBRA, form, Matrices(**typed, metadata=nibbles), CHOICES, scales)
        found = fragments.accumulator_words(np.asarray(d), bits)
        products.results.update(zip(self._d, found.T.tolist(), strict=True))

    def _in_memory(self, threads: list[Thread], role: str, descriptor: int) -> NDArray[Any]:
        """Return the rows of A that are the warp's, or the columns of B, as lines."""
        form, bits = self._form, self._form.format(role).bits
        extents = (WARPS * ROWS, form.products) if role == "a" else (form.shape.n, form.shape.k)
        places = ptx_shared_operands.places(descriptor, extents, bits, transposed=self._transposed[role])
        if role == "a":
            first = threads[0].number // WARP % WARPS * ROWS
            places = places[first : first + ROWS]
        return ptx_shared_operands.elements(self._code, threads[0], places, bits, self._i.line)


def _number(given: Mapping[str, Any], name: str, default: int) -> int:
    operand = given.get(name, Integer(default))
    if not isinstance(operand, Integer):
        raise Unknown(f"{name} {operand}")
    return operand.value


def _mma_async(code: Code, i: InstructionStatement) -> Run:
    return together(_Multiplication(code, i).issue, i, None)


def _same(values: list[int], i: InstructionStatement) -> int:
    if len(set(values)) > 1:
        raise Fault("undefined", f"operands of {i.mnemonic} in line {i.line} differ from thread to thread")
    return values[0]


def _unordered(
    threads: list[Thread], products: WarpProducts, names: tuple[str, ...], shape: str
) -> list[str]:
    """Return which registers no fence has put in order before a product."""
    return [
        name
        for name in names
        if not products.fenced
        or products.shapes.get(name, shape) != shape
        or any(name in thread.touched for thread in threads)
    ]


_DECODERS: dict[str, Callable[[Code, InstructionStatement], Run]] = {
    "mma_async": _mma_async,
    "fence": _fence,
    "commit_group": _commit,
    "wait_group": _wait,
}


def _wgmma(code: Code, i: InstructionStatement) -> Run:
    name = i.one_of(_DECODERS)
    if name is None:
        raise Unknown(i.mnemonic)
    return _DECODERS[name](code, i)


WARPGROUPS: dict[str, Decoder] = {"wgmma": _wgmma}
"""How each instruction is decoded."""
