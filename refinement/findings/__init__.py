"""What can be found: findings, results, their documents. Imports nothing else of the engine."""
