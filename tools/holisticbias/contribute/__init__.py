"""Propose, compare and preview changes of the terms."""
