"""Build the calibration models from their seeds: what they learn, their training, and the record of it.

``python -m calibration NAME`` builds one; the targets of make do it for all.
"""
