"""The analyses of the CAPability paper beside its scores, over the verdicts of several runs."""
