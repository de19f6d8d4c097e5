"""Process mechanics: building stages from settings, workers, life cycle."""
