"""PTX modules of third parties: their syntax and control flow."""
