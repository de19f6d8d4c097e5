"""Readers of rows, one a file format."""
