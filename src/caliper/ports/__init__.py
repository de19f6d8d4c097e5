"""Ports: the interfaces that the core needs from the outside world."""
