"""Expected values: formulas of a contract as terms and as numbers, and admissible inputs."""
