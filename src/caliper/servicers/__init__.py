"""One thin servicer a gRPC service: converts, calls the pipeline."""
