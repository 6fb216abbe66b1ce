"""A core that runs: its scalar unit, instructions on tiles, and pairs of cores."""
