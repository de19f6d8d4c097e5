"""A run is resolved and planned, and its jobs are published."""
