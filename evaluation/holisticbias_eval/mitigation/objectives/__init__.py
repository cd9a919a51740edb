"""Auxiliary losses as pure functions: tensors in, a scalar out. Importing a module here imports torch."""
