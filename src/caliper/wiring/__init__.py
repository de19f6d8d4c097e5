"""The composition root: settings, the choice of adapters, and how each service is built."""
