"""One road to production: skills built into a release, and a release put on a site.

`building` makes the files, `folder` puts them into a folder, `site` onto a static site;
`discovery` and `archives` are what a server needs of it, too.
"""

__all__: list[str] = []
