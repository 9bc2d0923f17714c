"""Lists, dicts, sets and the like: what is in them, and in which order it comes out."""
