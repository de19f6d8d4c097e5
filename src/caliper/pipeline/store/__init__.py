"""The layout of the object store: specs, plans, captions and datasets of runs."""
