"""Databases of PostgreSQL for tests; without a server they are skipped."""

import atexit
import os
from contextlib import closing
from functools import cache
from hashlib import sha256
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


@atexit.register
def drop_databases() -> None:
    """Drop what `database` made."""
    while _made:
        execute(f"DROP DATABASE IF EXISTS {_made.pop()} WITH (FORCE)")


@cache
def database(name: str) -> str:
    """Return the URL of an empty database, which is dropped when the tests end."""
    mark = sha256(f"{os.getpid()} {name}".encode()).hexdigest()[:12]
    database = f"satchel_test_{mark}"
    execute(f"CREATE DATABASE {database}")
    _made.append(database)
    return f"{SERVER}/{database}"
