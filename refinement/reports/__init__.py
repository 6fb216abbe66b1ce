"""Reports of a verification."""
