"""`caliper metrics`: captions compared with reference captions."""
