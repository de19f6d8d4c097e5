"""Builds of CompreCap: scene graphs from masks and descriptions (paper 3)."""
