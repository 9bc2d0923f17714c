"""What a resumed run does not get back from a checkpoint, by what saves and loads it."""
