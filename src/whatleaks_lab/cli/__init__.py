"""The laboratory's commands: ``whatleaks claims`` and ``whatleaks data``."""
