"""Prompt packs."""
