"""Models that were trained elsewhere, turned into the project's own forms. One file per source."""
