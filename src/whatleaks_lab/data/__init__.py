"""The papers' data sets: cards, parsers and downloads."""
