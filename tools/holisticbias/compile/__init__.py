"""Compile a catalog into tables."""
