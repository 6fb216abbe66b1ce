"""Parts that the machines of all languages share: memory, observations, launches, front ends."""
