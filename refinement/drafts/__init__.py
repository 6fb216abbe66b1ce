"""Draft contracts: what a kernel's code tells of its contract, and the places its author has to fill in."""
