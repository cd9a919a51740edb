"""The records: descriptors, nouns, templates and versions, and the catalog that holds them."""
