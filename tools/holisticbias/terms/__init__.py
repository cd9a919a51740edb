"""Records of descriptors, nouns, templates and versions, and the catalog that holds them."""
