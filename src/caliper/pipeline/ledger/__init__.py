"""The outcomes of a run: collected, kept as segments, and reduced to a report."""
