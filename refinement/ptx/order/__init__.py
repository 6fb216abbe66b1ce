"""The order of accesses: vector clocks, fences, races."""
