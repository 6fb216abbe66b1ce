"""What the instructions of Power do."""
