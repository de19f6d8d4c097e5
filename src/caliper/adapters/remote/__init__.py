"""Services that are called over gRPC: core values in and out."""
