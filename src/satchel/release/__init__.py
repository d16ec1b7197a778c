"""One road to production: skills built into a release, and a release put on a site."""
