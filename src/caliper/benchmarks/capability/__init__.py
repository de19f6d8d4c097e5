"""CAPability: 13 tasks judged for correctness and thoroughness."""
