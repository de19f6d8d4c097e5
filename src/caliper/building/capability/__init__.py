"""Builds of CAPability: one annotated element per medium and dimension (paper 3.1)."""
