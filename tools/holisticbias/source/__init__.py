"""Read and write YAML files of terms, with the line and column of every value."""
