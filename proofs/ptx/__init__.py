"""Theorems about the PTX warp-level matrix instructions."""
