"""Many programs: what earlier runs know, and worker processes."""
