"""Claims on pages, in documents and in figures."""
