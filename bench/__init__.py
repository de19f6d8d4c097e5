"""Benchmarks of Caliper's cost, each figure with its bound or a peer: `python -m bench`."""
