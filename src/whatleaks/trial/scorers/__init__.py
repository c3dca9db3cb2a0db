"""Scorers: one for each type of guess. What leaves them are errors per record, never values."""
