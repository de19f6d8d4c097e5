"""Serving: gRPC, access, health, metrics and pages."""
