"""Values and arithmetic. Standard library only; no I/O, no clock, no logging."""
