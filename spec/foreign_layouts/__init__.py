"""Layouts as other tools write them, compared with those of the instruction sets."""
