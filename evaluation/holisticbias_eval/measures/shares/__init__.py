"""Shares of descriptor pairs that differ, and their trust figures."""
