"""The catalogue told to people: what ``d9mlint explain`` and ``rules list`` say, and the pages of the documentation."""
