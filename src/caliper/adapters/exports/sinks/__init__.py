"""Sinks of results, each for a tool that people use."""
