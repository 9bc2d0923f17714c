"""What a program is given when it starts: the command line, the flags of parsers, files and trees of settings."""
