"""Serves the API and the pages: gRPC, access control, health, metrics and HTTP."""
