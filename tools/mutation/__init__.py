"""One-line faults in the specification, and which of them the catalogue notices."""
