"""gRPC clients of the services, in terms of core values."""
