"""What people look at: a table in the terminal and one HTML page."""
