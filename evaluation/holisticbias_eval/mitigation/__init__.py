"""Mitigation methods, one file each, and the training that they share."""
