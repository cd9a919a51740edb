"""Read and format YAML files of terms, with the line and column of every value."""
