"""Pages for people: a document that needs nothing but itself, its parts, and where pages are kept."""
