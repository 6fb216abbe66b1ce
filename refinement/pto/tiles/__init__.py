"""Tiles, views and arrays of a running kernel, and arithmetic on their elements."""
