"""The checker: evaluates both sides of every equality that a verdict rests on, by code of its own."""
