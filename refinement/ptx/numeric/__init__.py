"""Some blocks of a launch, run on numbers: no terms, arrays of any size, registers as numpy arrays."""
