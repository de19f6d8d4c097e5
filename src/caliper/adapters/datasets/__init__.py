"""Readers of dataset rows, one per file format."""
