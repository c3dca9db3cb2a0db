"""The laboratory: the papers' claims, data sets, figures and stored results. The core never imports it."""
