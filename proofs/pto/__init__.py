"""Theorems about the Ascend PTO tile instructions."""
