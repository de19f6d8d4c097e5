"""The ledger of a run: its outcomes are collected, stored as segments and reduced to a report."""
