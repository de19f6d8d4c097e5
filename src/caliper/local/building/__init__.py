"""Builds a benchmark in a directory, step by step."""
