"""Asking models: a caption is written or examined, and replies are kept."""
