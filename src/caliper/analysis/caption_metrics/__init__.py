"""Metrics that compare captions with reference captions, as COCO's evaluation code computes them.

They serve comparison and correlation with people's scores; none enters a report.
"""
