"""The models that answer: how they are loaded, what they score and write, and the store of their answers."""
