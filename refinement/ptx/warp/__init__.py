"""Warp-level instructions: exchanges and matrix instructions."""
