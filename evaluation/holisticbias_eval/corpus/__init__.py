"""Sentences of people about groups: find, clean, annotate and split them, and swap their terms."""
