"""Parts for whatleaks from outside the package: an example, not a method."""
