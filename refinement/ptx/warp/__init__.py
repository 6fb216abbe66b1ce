"""Instructions of a whole warp: exchanges and matrix instructions."""
