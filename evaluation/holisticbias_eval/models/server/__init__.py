"""Other machines: servers that are asked over HTTP, and Ray clusters."""
