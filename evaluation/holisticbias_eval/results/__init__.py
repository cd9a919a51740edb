"""Runs on disk, recipes, the registry of results, and comparing runs."""
