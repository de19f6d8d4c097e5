"""Live scores of running runs, updated incrementally from the samples that changed."""
