"""Which files a program is made of: import lines, import roots, and the facts of each file."""
