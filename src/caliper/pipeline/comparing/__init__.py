"""Runs are compared, in figures and question by question."""
