"""Secrets of an installation: what they hold, and where they are kept."""
