"""Aggregates verdicts and events into ledgers, scores and reports."""
