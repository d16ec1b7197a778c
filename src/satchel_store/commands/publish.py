"""``satchel publish``."""

import os
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from satchel.cli import (
    echo,
    echo_error,
    echo_json,
    finding_fields,
    flag,
    json_option,
    library_options,
    open_named_skills,
    option_paths,
)
from satchel.errors import MissingPathError
from satchel.text import plural
from satchel_store.commands._findings import show_release_findings, skip_bad_option

if TYPE_CHECKING:
    from satchel_store.release import PublishedRelease


_RELEASE_AND_SITE = 2


@click.command("publish")
@click.argument("places", nargs=-1, required=True, metavar="[RELEASE] SITE")
@library_options(
    "A folder of packs to build a release of; repeatable. "
    "Default: what satchel.toml says."
)
@flag("--v1", "Write the discovery index v0.1.0 as well.")
@skip_bad_option
@json_option
def command(places: tuple[str, ...], v1: bool, skip_bad: bool, as_json: bool) -> int:
    """Put a release on the static site in the folder SITE, and print its digest.

    RELEASE is a folder that satchel build has written; without it one is built.
    Earlier releases stay on the site, and nothing is deleted: to go back, publish
    the earlier one again.

    Status: 0, or 1 if there is a reason not to release; then the site is not changed.

    \b
    Examples:
      satchel publish dist ./public
      satchel publish ./public --skills ./skills
      satchel publish ./public/releases/4f1c... ./public
    """
    if len(places) > _RELEASE_AND_SITE:
        raise click.UsageError("expected [RELEASE] SITE: two folders at most")
    *releases, site = places
    paths = option_paths()
    if releases and paths:
        raise click.UsageError("give a RELEASE, or --skills to build one, not both")
    if "" in places:
        raise click.UsageError("the path is empty")
    if releases:
        published = _publish(releases[0], Path(site), v1=v1)
    else:
        published = _built(paths, Path(site), v1=v1, skip_bad=skip_bad)
    show_release_findings(published.findings, published.left_out)
    written = plural(published.written, "file")
    echo_error(f"{site}: {written} written, {published.unchanged:,} there before")
    if as_json:
        fields: dict[str, object] = {"release": published.release.id, "path": site}
        fields |= {"written": published.written, "unchanged": published.unchanged}
        fields["left_out"] = published.left_out
        echo_json(fields | {"findings": finding_fields(published.findings)})
    else:
        echo(published.release.id)
    return 0


def _built(
    paths: tuple[str, ...], site: "Path", *, v1: bool, skip_bad: bool
) -> "PublishedRelease":
    from satchel_store.release import build_folder, check_not_in_sources

    with tempfile.TemporaryDirectory(prefix="satchel-") as folder:
        out = Path(folder) / "release"
        with open_named_skills(paths) as skills:
            # Before the build: a site within a source would be in the next release.
            check_not_in_sources(site, skills)
            built = build_folder(skills, out, allow_findings=skip_bad)
        published = _publish(str(out), site, v1=v1)
    return replace(published, findings=built.findings, left_out=built.left_out)


def _publish(release: str, site: "Path", *, v1: bool) -> "PublishedRelease":
    from satchel.sources import released
    from satchel_store.release import publish

    if not os.path.isdir(release):  # noqa: PTH112 - to pathlib an empty path is a folder
        raise MissingPathError(release)
    return publish(released(release), site, v1=v1)
