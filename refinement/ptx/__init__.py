"""PTX modules of third parties: text and execution."""
