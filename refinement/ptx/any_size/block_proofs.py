"""Proofs for all sizes by which a grid grows: one block stands for all.

The meta-rule (`docs/every-size.md`): the positions of `BlockOrder` are all blocks of all grids. If the block
at each of them stores to the elements of its tile of the output what the contract says of these, to each
once, and to nothing else, the kernel is right: tiles of different blocks have no element in common, and
together they are all of the output.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from ....spec.errors import InputError, UnsupportedError
from ...checker.evaluated import Checked
from ...contract.contract import Contract
from ...contract.size_domains import LARGEST, NO_SIZE, ResidueClass, SizeDomain, with_tail
from ...contract.size_polynomials import SizePolynomials
from ...findings.index_overflow import Overflow
from ...findings.result import Equality
from ...formula.index_arithmetic import Expression
from ...sizes.block_positions import BlockOrder, BlockPosition
from ...sizes.growing_roundings import GrowingRoundings, joined
from ...sizes.split_positions import resized, sides, split
from ...sizes.symbolic_integers import Doubt, deciding
from ...sizes.tile_places import Place, places
from ..run.entry import PtxEntry
from ..run.launching import entry_named
from .block_launch import BlockLaunch
from .checked_runs import check
from .first_overflows import in_blocks
from .grid_tiles import group_sizes, most_blocks, sizes_of, tile_of
from .overflow_faults import first_of_grid
from .placed_blocks import OrderError, PlacedLaunch
from .residue_classes import factors_of, prove
from .size_proofs import STATEMENTS, BlockProof, LimitError, Obligation, SizeProof, Timed
from .thread_steps import prove_steps
from .thread_stores import ThreadStores
from .thread_sums import Key, ThreadSums

_CAPS = (1 << 20, 1 << 18, 1 << 16, 1 << 15, 1 << 14, 1 << 13)
"""Up to which numbers all sizes are shown, of the first of these for which it works, where nothing tells."""

_LEAST_CAP = 1 << 12
"""Domains that end below are not cut again."""

_SEARCH = 60
"""Seconds of the processor after which nothing else is tried behind what fails."""

_MOST_POSITIONS = 40
"""Blocks that are run one by one."""


class BlockProver:
    """Proves a kernel right for every number of the sizes by which its grid grows.

    Parameters
    ----------
    kernel, contract : PtxEntry, Contract
        The kernel, and what it is to compute.
    told : callable
        Told what is being done.
    probe : callable, optional
        As of `prove_steps`.

    Raises
    ------
    UnsupportedError
        If the grid does not grow with sizes in a way that is modelled.
    """

    def __init__(
        self,
        kernel: PtxEntry,
        contract: Contract,
        told: Callable[[str], None],
        probe: Callable[[str], None] = lambda _: None,
    ) -> None:
        assert contract.quantified is not None
        self._kernel, self._contract, self._callbacks = kernel, contract, (told, probe)
        self._started = time.process_time()
        domains = {domain.name: domain for domain in contract.quantified.domains}
        polynomials = SizePolynomials(contract.quantified)
        grid = contract.launch.grid
        varying = [axis for axis, extent in enumerate(grid) if polynomials.varies(extent)]
        named = {axis: sizes_of(grid[axis], contract) for axis in varying}
        self.orders = list(self._orders(named, grid))
        used = dict.fromkeys(name for names in named.values() for name in names)
        derived = contract.quantified.derived
        if odd := [name for name in used if name in derived and polynomials.varies(derived[name])]:
            raise UnsupportedError(f"the grid grows with {odd[0]}, which depends on other sizes")
        self.domains = tuple(domains.get(name) or self._fixed(name) for name in used)
        self.others = [domain for domain in domains.values() if domain.name not in used]
        if not self.orders:
            raise UnsupportedError(
                "the grid must have one block for each tile of the sizes, such as (M + 63) // 64"
            )

    def _check_time(self, reason: str) -> None:
        """Refuse to try more where something has failed, and what was tried has taken long."""
        if reason and time.process_time() - self._started > _SEARCH:
            raise UnsupportedError(f"no proof found in {_SEARCH} s: {reason}")

    def _overflow(
        self,
        found: BlockProof,
        known: Mapping[str, int],
        last: SizeDomain | None,
        failed: Sequence[_Attempt],
        cap: int,
    ) -> Overflow | None:
        """Return what goes wrong behind the ends of a proof, where it is found, or sizes at which it may."""
        if not failed:
            return None
        shown = [*found.domains, *([found.last] if found.last is not None else [])]
        stated = [*self.domains, *([last] if last is not None else [])]
        grows = [domain.name for domain in self.domains]
        first = first_of_grid(self._kernel, self._contract, known, shown, stated, grows)
        if first is not None:
            return first
        overflows = (each.overflow(cap, self.domains, last) for each in failed[::-1])
        return next(filter(None, overflows), None)

    def _fixed(self, name: str) -> SizeDomain:
        """Return the domain of a size that is a number."""
        number = self._contract.sizes[0][name]
        return SizeDomain(name, str(number), number, number, number)

    def _orders(self, named: Mapping[int, Sequence[str]], grid: Sequence[Expression]) -> Iterator[BlockOrder]:
        """Yield what the order of blocks may be."""
        names = [name for several in named.values() for name in several]
        if not names or len(set(names)) != len(names):
            return
        tiles: dict[str, int] = {}
        for axis, several in named.items():
            for name in several:
                tiles[name] = tile_of(grid[axis].node, name)
        if all(len(several) == 1 for several in named.values()):
            yield BlockOrder(tiles, {axis: several[0] for axis, several in named.items()})
            return
        if len(named.get(0, ())) != 2 or any(len(several) != 1 for axis, several in named.items() if axis):
            return
        others = {axis: several[0] for axis, several in named.items() if axis}
        for group in group_sizes(self._kernel.module, self._kernel.entry):
            for major, minor in (named[0], named[0][::-1]):
                yield BlockOrder(tiles, others, major, minor, group)

    def proof(self, known: Mapping[str, int], last: SizeDomain | None) -> BlockProof:
        """Return a proof with the other sizes known, but one.

        Raises
        ------
        UnsupportedError
            If it is not shown; the message says what is in the way.
        """
        limit = reason = ""
        failed: list[_Attempt] = []
        cap: int | None = LARGEST
        while cap is not None:
            domains = [domain.up_to(cap) for domain in self.domains]
            inner = None if last is None else last.up_to(cap)
            if any(domain.least > domain.most for domain in (*domains, *([inner] if inner else []))):
                break
            reason = overflow = ""
            fitting: list[int] = []
            is_cut = False
            for factors in ((), factors_of(self._contract)) if last is not None else ((),):
                for order in self.orders:
                    self._check_time(reason)
                    attempt = _Attempt(self._kernel, self._contract, order, known, factors, *self._callbacks)
                    try:
                        found = replace(attempt.proof(domains, inner), limit=limit)
                        return replace(found, overflow=self._overflow(found, known, last, failed, cap))
                    except (UnsupportedError, InputError) as error:
                        reason = reason or str(error)
                        if (least := attempt.fitting(domains)) or isinstance(error, LimitError):
                            cuts = isinstance(error, LimitError) or (least or 0) >= _LEAST_CAP
                            overflow = str(error) if cuts and not is_cut else overflow or str(error)
                            is_cut |= cuts
                            fitting.append(least or 0)
                            failed.append(attempt)
                if is_cut:
                    break
            limit, cap = overflow, _next_cap(cap, fitting) if overflow else None
        raise UnsupportedError(reason or "sizes are too large")


class _Attempt:
    """A proof for one order of blocks."""

    def __init__(
        self,
        kernel: PtxEntry,
        contract: Contract,
        order: BlockOrder,
        known: Mapping[str, int],
        factors: Sequence[int],
        told: Callable[[str], None],
        probe: Callable[[str], None],
    ) -> None:
        self._kernel, self._contract, self._order, self._probe = kernel, contract, order, probe
        self._known, self._factors, self._told = known, factors, told
        self._launches: list[BlockLaunch] = []
        self._places: dict[str, Place] = {}
        self._obligations: list[Obligation] = []
        self._roundings: list[GrowingRoundings | None] = []
        self._checked = Checked()
        self._last_limit = ""
        self._tail = 0
        self._last: SizeDomain | None = None
        self._split = 0
        self._of_threads: dict[Key, list[tuple[SizeProof, int]]] = {}

    def fitting(self, domains: Sequence[SizeDomain]) -> int | None:
        """Return up to which number what was not decided fits; None if it does not have to fit."""
        found = []
        for launch in self._stated_launches():
            doubt = deciding(launch.store.doubts)
            if doubt is not None and doubt.limit and doubt.highest > doubt.limit:
                found.append(self._fitting(domains, launch, doubt))
        return min(found, default=None)

    def _stated_launches(self) -> list[BlockLaunch]:
        """Return the launches with no numbers behind the end of the last size's domain."""
        end = LARGEST if self._last is None else self._last.most
        numbers = [(launch, launch.numbers) for launch in self._launches]
        return [
            launch
            for launch, own in numbers
            if own.domain.most - own.has_tail * (own.modulus - own.residue) <= end
        ]

    def overflow(self, shown: int, domains: Sequence[SizeDomain], last: SizeDomain | None) -> Overflow | None:
        """Return sizes of which some are behind the largest shown, and at which an index overflows."""
        every = [*domains, *([last] if last is not None else [])]
        by_name = {each.name: each for each in every}
        beyond = {
            each.name: replace(each, least=min(each.up_to(shown).most + each.step, each.most))
            for each in every
        }
        for launch in self._stated_launches()[::-1]:
            doubt = deciding(launch.store.doubts)
            if doubt is None or not doubt.limit or doubt.highest <= doubt.limit:
                continue
            where = launch.store.symbols, doubt, launch.position.positions, launch.numbers
            found = in_blocks(*where, beyond)
            for name, domain in beyond.items() if found is not None else ():
                if (end := by_name[name].up_to(shown)).least <= end.most:
                    fewer = {**beyond, name: replace(domain, least=end.most, most=end.most)}
                    if (also := in_blocks(*where, fewer)) is not None:
                        found, beyond = also, fewer
            if found is not None:
                sizes = {**self._known, **found[0]}
                return Overflow(launch.path, doubt.line, sizes, found[1], doubt.limit)
        return None

    def _fitting(self, domains: Sequence[SizeDomain], launch: BlockLaunch, doubt: Doubt) -> int:
        """Return the largest number of all sizes for which a polynomial is not above its limit."""
        row, whole = np.array([doubt.row], dtype=np.int64), max(domain.most for domain in domains)
        most_now = max(n for n, _ in launch.store.symbols.groups[0].corners)

        def fits(most: int) -> bool:
            there = [domain.up_to(most) for domain in domains]
            if any(each.least > each.most for each in there):
                return True
            blocks = self._positions(there)
            named = {place.position.name: place.position for place in self._places_of(blocks, there)}
            named |= {block.name: block for block in blocks}
            position = named.get(launch.position.name)
            if position is None and all(each.ends is not None for each in launch.position.positions):
                position = resized(launch.position, self._order, there)
            if position is None:
                return True
            part = most / whole
            if self._last is not None and most_now > 0:  # the proof goes on to the end of its domain
                part = launch.numbers.count(self._last.up_to(most).most) / most_now
            high = launch.symbols_at(position, part).bounds(row)[1][0]
            return bool(high <= doubt.limit)

        return bisect_left(range(1, whole), True, key=lambda most: not fits(most))

    def _positions(self, domains: Sequence[SizeDomain]) -> list[BlockPosition]:
        return self._order.positions(
            domains, {domain.name: most_blocks(self._order, domain.name) for domain in domains}
        )

    def proof(self, domains: Sequence[SizeDomain], last: SizeDomain | None) -> BlockProof:
        """Prove the kernel right for some domains; raises UnsupportedError."""
        self._last = last
        positions = self._positions(domains)
        if len(positions) > _MOST_POSITIONS:
            raise UnsupportedError(
                f"partial tiles make {len(positions)} kinds of blocks; at most {_MOST_POSITIONS} are run"
            )
        together = self._places_of(positions, domains)
        if len(together) < len(positions):
            noted = len(self._obligations)
            self._places = {each.position.name: each for each in together}
            try:
                return self._shown([each.position for each in together], domains, last)
            except (
                OrderError
            ):  # what blocks do depends on how they are numbered, or is not known to not do so
                self._places, self._roundings, self._launches = {}, [], []
                self._checked = Checked()
                del self._obligations[noted:]
        return self._shown(positions, domains, last)

    def _places_of(self, positions: Sequence[BlockPosition], domains: Sequence[SizeDomain]) -> list[Place]:
        return places(
            positions, domains, {domain.name: most_blocks(self._order, domain.name) for domain in domains}
        )

    def _shown(
        self, positions: Sequence[BlockPosition], domains: Sequence[SizeDomain], last: SizeDomain | None
    ) -> BlockProof:
        """Prove the blocks at some positions right, which stand for all."""
        most = {domain.name: most_blocks(self._order, domain.name) for domain in domains}
        equality = Equality.BITS
        shown = last
        for position in positions:
            found, inner = self._position(position, last)
            equality = Equality.VALUE if found is Equality.VALUE else equality
            if inner is not None and shown is not None:
                shown = shown.up_to(inner.most)
        self._obligations += self._orders()
        ends = [_shown_to(domain, self._order, most) for domain in domains]
        return BlockProof(
            tuple(ends),
            shown,
            equality,
            obligations=self._obligations,
            roundings=joined(self._roundings),
            checked=self._checked,
            last_limit=self._last_limit,
            assumptions=tuple(
                dict.fromkeys(assumption for one in self._launches for assumption in one.assumptions)
            ),
        )

    def _orders(self) -> list[Obligation]:
        """Return that it does not matter how blocks are numbered, for those of which that was looked at."""
        seconds: dict[str, float] = {}
        for launch in self._launches:
            if isinstance(launch, PlacedLaunch):
                for name, own in launch.seconds.items():
                    seconds[name] = own + seconds.get(name, 0.0)
        line = entry_named(self._kernel.module, self._kernel.entry).line
        return [Obligation(f"{name}: order", own, line, STATEMENTS["order"]) for name, own in seconds.items()]

    def _position(
        self, position: BlockPosition, last: SizeDomain | None
    ) -> tuple[Equality, SizeDomain | None]:
        """Prove the block at a position right for every number of the last size."""
        if last is None:
            return self._whole_or_split(position), None
        tell = position.name or "every block"
        self._told(tell)

        def launched(numbers: ResidueClass) -> BlockLaunch:
            return self._launched(tell, position, self._known, numbers)

        def telling(what: str) -> None:
            self._told(f"{tell}: {what}")

        of = self._kernel, self._contract, self._known, last, telling, position
        otherwise = partial(prove, launched, last, telling, self._factors, self._tail)
        sums = ThreadSums(*of, self._of_threads)
        falling = partial(sums.proof, falls=True)
        found = prove_steps(sums, ThreadStores(*of), otherwise, falling, self._probe)
        self._tail = found.tail
        self._obligations += [obligation.of(tell) for obligation in found.obligations]
        self._roundings.append(found.roundings)
        self._checked += found.checked
        self._last_limit = self._last_limit or found.limit
        equality = found.equality
        for number in found.alone if not found.tail else ():
            if self._run(position, {**self._known, last.name: number}) is Equality.VALUE:
                equality = Equality.VALUE
        for most in range(found.tail, found.first, found.tail) if found.tail else ():
            numbers = with_tail(replace(last, least=most, most=most), found.tail)
            if self._run(position, self._known, numbers) is Equality.VALUE:
                equality = Equality.VALUE
        return equality, found.domain

    def _whole_or_split(self, position: BlockPosition) -> Equality:
        """Prove the block at a position right, or the parts of it for which more is known."""
        noted, before = len(self._obligations), len(self._launches)
        try:
            return self._run(position, self._known)
        except LimitError:
            raise
        except UnsupportedError:
            parts = self._parts(position) if len(self._launches) > before else []
            self._split += len(parts)
            if not parts or self._split > _MOST_POSITIONS:
                raise
        del self._obligations[noted:], self._launches[before:]
        found = [self._whole_or_split(part) for part in parts]
        return Equality.VALUE if Equality.VALUE in found else Equality.BITS

    def _parts(self, position: BlockPosition) -> list[BlockPosition]:
        """Return what a position is split into where comparisons of the last run may be decided."""
        store = self._launches[-1].store
        for doubt in store.doubts:
            row = np.array(doubt.row, dtype=np.int64)
            low, high = store.symbols.bounds(row[None])
            if doubt.limit or low[0] > 0 or high[0] < 0:
                continue
            for each in position.positions:
                for before in sides(each, row, store.symbols):
                    if parts := split(position, self._order, each.domain.name, before=before):
                        return parts
        return []

    def _run(
        self, position: BlockPosition, known: Mapping[str, int], numbers: ResidueClass = NO_SIZE
    ) -> Equality:
        """Prove the block at a position right at numbers of all other sizes, of one up to a tail more."""
        stated = [f"{name} = {number}" for name, number in known.items()]
        if numbers.has_tail:
            most = numbers.domain.most
            stated.append(f"{numbers.domain.name} = {most - numbers.modulus + numbers.residue} to {most}")
        at = ", ".join(stated)
        name = f"{position.name or 'every block'}{f' at {at}' if at else ''}"
        launch = self._launched(name, position, known, numbers)
        equality, checked = check(launch, partial(self._noting, name))
        self._checked += checked
        return equality

    def _launched(
        self, name: str, position: BlockPosition, known: Mapping[str, int], numbers: ResidueClass
    ) -> BlockLaunch:
        with self._noting(name, "cover"):
            place = self._places.get(position.name)
            if place is None:
                found = BlockLaunch(self._kernel, self._contract, position, known, numbers)
            else:
                found = PlacedLaunch(self._kernel, self._contract, place, known, numbers)
        self._launches.append(found)
        return found

    def _noting(self, name: str, part: str, output: str = "") -> Timed:
        line = entry_named(self._kernel.module, self._kernel.entry).line
        statement = STATEMENTS[part].format(name=output)
        return Timed(f"{name}: {part}", line, statement, self._obligations)


def _next_cap(cap: int, fitting: Sequence[int]) -> int | None:
    """Return up to which numbers all sizes are to be shown next; None where it is no use."""
    told = [each for each in fitting if _LEAST_CAP <= each < cap]
    return max(told, default=next((each for each in _CAPS if each < cap), None))


def _shown_to(domain: SizeDomain, order: BlockOrder, most: Mapping[str, int]) -> SizeDomain:
    """Return the part of a domain for which a grid can be launched."""
    return domain.up_to(most[domain.name] * order.tiles[domain.name])
