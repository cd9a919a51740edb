"""Auxiliary losses: pure functions of tensors, and the terms in texts that they compare."""
