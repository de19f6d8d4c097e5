"""Verdicts and events become ledgers, scores and reports."""
