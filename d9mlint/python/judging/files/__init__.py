"""One model of a program's files: the places that its paths name, and what is done to what lies there."""
