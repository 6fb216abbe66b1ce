"""A running core: its scalar unit, instructions on tiles, and pairs of cores."""
