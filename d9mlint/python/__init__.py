"""Python programs: read into facts, linked, told as a story, judged by rules."""
