"""The gateway's use cases: start, get, list, watch and cancel runs; replay dead letters."""
