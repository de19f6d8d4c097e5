"""Secrets of an installation: their contents and their stores."""
