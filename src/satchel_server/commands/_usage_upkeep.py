"""``satchel usage merge``, ``prune`` and ``erase``."""

import os
import time
from dataclasses import asdict

import click

from satchel.cli import (
    echo,
    echo_error,
    echo_json,
    errors_are_status_2,
    flag,
    json_option,
)
from satchel.errors import ConfigError
from satchel.text import plural
from satchel.usage import DAY_S, VARIABLE

DAYS_VARIABLE = "SATCHEL_USAGE_DAYS"
_KINDS = ("sqlite:", "jsonl:", "chain:", "log:", "postgresql:", "postgres:")

db_option = click.option(
    "--db",
    metavar="PATH|URL",
    help="The file or database of events. Default: what SATCHEL_USAGE says, else the "
    "database in your state folder.",
)


def place_of(db: str | None) -> str:
    """Return the path or URL where events are: an option, else the setting."""
    from satchel_server.usage import parse_location

    if db is not None and "://" not in db and not db.startswith(_KINDS):
        return db
    url = db or os.environ.get(VARIABLE, "").strip() or "sqlite:"
    option = VARIABLE if db is None else "--db"
    place = None if url.lower() == "off" else parse_location(url, option)
    if place is None or not place.path:
        raise ConfigError(option, f"{url!r} stores no events; name a file with --db")
    # As a URL where it was one: the name of a file that is not there says nothing.
    return f"sqlite:{place.path}" if place.kind == "sqlite" else place.path


@click.command("merge")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@json_option
@db_option
def merge(files: tuple[str, ...], as_json: bool, db: str | None) -> int:
    """Bring the events of each FILE into one database.

    A FILE is a SQLite database, JSON Lines, or a chained log, or its URL. An event that
    is there already is not added again, so a FILE that grew can be merged again. What
    satchel usage import wrote comes in as imported, and counts as no load.

    \b
    Examples:
      satchel usage merge old/usage.db pod-1.jsonl
      satchel usage merge usage.chain --db postgresql://skills@db/usage
    """
    from satchel_server.usage import merge_file, open_tables

    results: list[dict[str, object]] = []
    with errors_are_status_2(), open_tables(place_of(db)) as store:
        for file in files:
            merged = merge_file(store, file)
            if merged.lines_not_read and not (merged.events or merged.repeats):
                raise ConfigError(file, "there is no event of Satchel in it")
            results.append({"file": file, **asdict(merged)})
            if not as_json:
                new, again = plural(merged.events, "new event"), merged.repeats
                echo(f"{file}: {new}, {again:,} there already")
                if merged.lines_not_read:
                    unread = plural(merged.lines_not_read, "line")
                    echo_error(f"{file}: {unread} could not be read")
    if as_json:
        echo_json({"merged": results})
    return 0


@click.command("prune")
@click.option(
    "--days",
    type=click.IntRange(1, 36_500),
    envvar=DAYS_VARIABLE,
    show_envvar=True,
    help="Days to keep, today included.",
)
@json_option
@db_option
def prune(days: int | None, as_json: bool, db: str | None) -> int:
    """Remove events that are older than a number of days, from rows and sums.

    Without --days, SATCHEL_USAGE_DAYS says how many.

    \b
    Examples:
      satchel usage prune --days 90
    """
    from satchel_server.usage import open_tables, prune_events

    if days is None:
        raise click.UsageError(f"name the days to keep: --days N, or {DAYS_VARIABLE}")
    before, place = int(time.time() // DAY_S) - days + 1, place_of(db)
    with errors_are_status_2(), open_tables(place, exists=bool(db)) as store:
        removed = prune_events(store, before)
    return _removed(removed, as_json=as_json)


@click.command("erase")
@click.option("--caller", required=True, metavar="NAME", help="The caller, exactly.")
@flag("--yes", "Erase without a question.")
@json_option
@db_option
def erase(caller: str, yes: bool, as_json: bool, db: str | None) -> int:
    """Remove all events of one caller, from rows and sums, with its conversations.

    A caller is the name of a token of the server. Events that a server has not written
    yet come later: erase again after a minute. So do those of a file that is merged
    again.

    \b
    Examples:
      satchel usage erase --caller ana --yes
    """
    from satchel_server.usage import erase_caller, open_tables

    if not caller:  # by which all events without one are stored
        raise click.UsageError("name the caller: --caller NAME")
    with errors_are_status_2(), open_tables(place_of(db), exists=bool(db)) as store:
        if not yes:
            click.confirm(f"Erase all events of {caller!r}?", abort=True, err=True)
        removed = erase_caller(store, caller)
    return _removed(removed, as_json=as_json)


def _removed(count: int, *, as_json: bool) -> int:
    if as_json:
        echo_json({"removed": count})
    else:
        echo(f"{plural(count, 'event')} removed")
    return 0
