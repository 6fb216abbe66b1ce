"""What the instructions mean. No solver, no input or output, no command line."""
