"""PTO text: what it says, how it is read, and how it is printed."""
