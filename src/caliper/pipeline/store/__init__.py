"""What the store holds of runs: specs, plans, captions and datasets."""
