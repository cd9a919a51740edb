"""Prompts: a release's sentences, SEAT templates, contexts."""
