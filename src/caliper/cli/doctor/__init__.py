"""What `caliper doctor` checks."""
