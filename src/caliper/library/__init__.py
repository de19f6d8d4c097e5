"""The public Python API: what `import caliper` exports, and the values that it returns."""
