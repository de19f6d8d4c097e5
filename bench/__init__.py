"""What Caliper costs, each figure beside its bound or a peer: `python -m bench`."""
