"""Reports of runs: written, read back, and computed while a run is going on."""
