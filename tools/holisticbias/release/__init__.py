"""Release folders: write, open, verify, export and publish them."""
