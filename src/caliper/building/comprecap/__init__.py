"""Building scene graphs for CompreCap."""
