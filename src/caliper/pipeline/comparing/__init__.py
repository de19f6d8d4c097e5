"""Compares runs by their figures and question by question."""
