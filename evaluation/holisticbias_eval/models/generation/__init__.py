"""Engines that answer prompts: how a response is made, and that it depends on its prompt and seed alone."""
