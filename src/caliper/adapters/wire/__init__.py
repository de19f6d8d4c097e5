"""Conversion of core values to messages, and of messages to bytes."""
