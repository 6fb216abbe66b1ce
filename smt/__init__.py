"""Z3 translation of the spec, exact rings, and the solver portfolio."""
