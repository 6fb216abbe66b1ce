"""The files that say what was found."""
