"""Commands for those who work on mmaproof itself; none of them is part of the package."""
