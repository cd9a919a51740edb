"""Collect prompts about groups from the dump of a wiki."""
