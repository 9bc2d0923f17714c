"""The seed that a program has, by itself or of the library that it trains with."""
