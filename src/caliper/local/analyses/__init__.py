"""Reads the verdicts and captions of stored runs for the analyses of one benchmark."""
