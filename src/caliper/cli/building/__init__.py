"""`caliper build`: a benchmark of one's own."""
