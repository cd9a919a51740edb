"""New entries by question and answer, on the terminal, in options or in a filled form."""
