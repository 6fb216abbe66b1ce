"""What Python programs call: the functions that the commands are made of, and their typed results."""
