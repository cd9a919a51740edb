"""Releases: build, write, open, verify, export and publish them."""
