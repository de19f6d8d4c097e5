"""CompreCap: coverage of a directed scene graph."""
