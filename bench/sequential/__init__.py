"""Simulated comparisons that stop: how often they are wrong, and what they save."""
