"""All threads that updated a place by atomics, of several blocks.

Who comes last of all learns that of everybody, see `tickets`; for others it is enough that there are several.
"""

from __future__ import annotations

import numpy as np

from ..registers.threads import Indices
from .ordering import Ordering
from .vector_clocks import Places


class AtomicUsers:
    """The threads that changed places by atomics.

    Attributes
    ----------
    kept : bool
        Whether they are kept.
    """

    def __init__(self) -> None:
        self.kept = False
        self._times: dict[int, dict[int, int]] = {}

    def note(self, ordering: Ordering, places: Places, threads: Indices, fresh: Indices) -> None:
        """Note that threads (n,) change places (n,) by atomics; of some of these nobody before counts."""
        if not self.kept:
            return
        for place in places[fresh].tolist():
            self._times.pop(place, None)
        names, times = ordering.names[threads].tolist(), ordering.times(threads).tolist()
        for place, name, time in zip(places.tolist(), names, times, strict=True):
            self._times.setdefault(place, {})[name] = time

    def are_over(self, ordering: Ordering, places: Places, threads: Indices, which: Indices) -> Indices:
        """Return which of some accesses of threads (n,) to places (n,) are in order after all atomics."""
        if not self._times:
            return np.zeros(0, dtype=np.intp)
        found = []
        for index in which.tolist():
            times = self._times.get(int(places[index]))
            thread = int(threads[index])
            if times is not None:
                names = np.array([time for time in times if time != ordering.names[thread]], dtype=np.int64)
                when = np.array([times[each] for each in names.tolist()], dtype=np.int32)
                if ordering.over(np.full(len(names), thread), names, when).all():
                    found.append(index)
        return np.array(found, dtype=np.intp)
