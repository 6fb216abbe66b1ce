"""Functions of real numbers that a library writes out, recognised and proved."""
