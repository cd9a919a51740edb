"""Compile a catalog at a version into Arrow tables."""
