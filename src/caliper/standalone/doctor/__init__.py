"""What `caliper doctor` looks at, and what it says of it."""
