"""``satchel push``."""

import click

from satchel.cli import flag, json_option, library_options, option_paths


@click.command("push")
@click.argument("reference", metavar="REF")
@click.argument("release", metavar="[RELEASE]", default="", type=click.Path())
@library_options(
    "A folder of packs to build a release of; repeatable. "
    "Default: what satchel.toml says."
)
@flag("--skip-bad", "Leave out what is bad of a release that is built.")
@json_option
def command(reference: str, release: str, skip_bad: bool, as_json: bool) -> int:
    """Put a release into a registry under the tag of REF, and print its digest.

    REF is oci://registry/team/skills:tag. RELEASE is a folder that satchel build has
    written; without it one is built. Only what the registry lacks is sent; the tag is
    moved last. Your credentials are those of docker login.

    Status: 0, or 1 if there is a reason not to release, or the registry refuses.

    \b
    Examples:
      satchel push oci://registry.example.com/team/skills:prod dist
      satchel push oci://localhost:5000/skills:test --skills ./skills
    """
    from satchel_install.oci import push

    paths = option_paths()
    if release and paths:
        raise click.UsageError("give a RELEASE, or --skills to build one, not both")
    return push(reference, release, paths, skip_bad=skip_bad, as_json=as_json)
