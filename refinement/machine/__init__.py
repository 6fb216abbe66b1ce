"""What the machines of all languages share: memory, observations, launches, the front end's interface."""
