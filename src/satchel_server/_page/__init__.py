"""The page: what a browser is shown of a library. It changes nothing."""
