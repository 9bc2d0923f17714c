"""What frameworks mean: their hooks into the interpreter, and questions about programs that use them."""
