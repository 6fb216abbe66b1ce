"""The formula language: grammar, trees, and definitions."""
