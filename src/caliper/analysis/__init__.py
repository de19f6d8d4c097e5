"""Pure statistics over outcomes."""
