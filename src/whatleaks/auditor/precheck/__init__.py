"""What a setting gives away, said before there is any data: counts of equations and unknowns."""
