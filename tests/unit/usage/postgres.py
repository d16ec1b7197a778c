"""Databases of PostgreSQL for tests; without a server they are skipped."""

import atexit
import os
from contextlib import closing
from secrets import token_hex
from typing import Final

import pytest

SERVER: Final = os.environ.get(
    "SATCHEL_TEST_POSTGRES", "postgresql://postgres@127.0.0.1:5432"
)


def execute(
    statement: str, url: str = f"{SERVER}/postgres"
) -> list[tuple[object, ...]]:
    """Run one statement; return its rows."""
    import psycopg

    with closing(psycopg.connect(url, autocommit=True, connect_timeout=3)) as base:
        cursor = base.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []


def _answers() -> bool:
    try:
        execute("SELECT 1")
    except Exception:  # noqa: BLE001 - no server, no right to use it, or no psycopg
        return False
    return True


needs_postgres: Final = pytest.mark.skipif(
    not _answers(),
    reason="no PostgreSQL answers; to run this, start one and say where: "
    "SATCHEL_TEST_POSTGRES=postgresql://postgres@127.0.0.1:5432 "
    "python -m pytest tests/unit/usage",
)


_made: Final[list[str]] = []
# Of the test that runs: the database that each name stands for.
_in_use: Final[dict[tuple[str, str], str]] = {}


@atexit.register
def drop_databases() -> None:
    """Drop what `database` made."""
    while _made:
        execute(f"DROP DATABASE IF EXISTS {_made.pop()} WITH (FORCE)")


def database(name: str) -> str:
    """Return the URL of a database that is empty when its test begins.

    A later test gets it again, emptied: to make and to drop one takes far longer.
    """
    # A benchmark is none; each name stands for a database of its own there.
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
    if (test, name) not in _in_use:
        for other in [used for used in _in_use if used[0] != test]:
            del _in_use[other]
        free = next((made for made in _made if made not in _in_use.values()), None)
        _in_use[test, name] = _emptied(free) if free else _new()
    return f"{SERVER}/{_in_use[test, name]}"


def _new() -> str:
    made = f"satchel_test_{token_hex(6)}"
    execute(f"CREATE DATABASE {made}")
    _made.append(made)
    return made


def _emptied(made: str) -> str:
    url = f"{SERVER}/{made}"
    # A connection that a test left open would keep the tables.
    execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid()",
        url,
    )
    execute("DROP SCHEMA IF EXISTS satchel_usage CASCADE", url)
    return made
