"""Events in a PostgreSQL database that many servers write at once."""

import re
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final

from satchel.errors import (
    ConfigError,
    ExtraMissingError,
    MissingPathError,
    SourceUnavailableError,
)
from satchel.usage import DAY_S
from satchel_server.usage._store import Row, row_errors
from satchel_server.usage._table_store import TableStore
from satchel_server.usage._tables import SCHEMA, Base

try:
    import psycopg
    from psycopg import conninfo
except ImportError as error:
    raise ExtraMissingError("a postgresql: URL", "postgres") from error

# The version of the tables, and the oldest Satchel's that may still write into them.
# A change adds a step to `_STEPS`, and only adds columns with a default, or tables.
POSTGRES_VERSION: Final = 1
# Of one database: 1 is for those who add to the sums, 2 for those who make tables.
_LOCK: Final = "SELECT pg_advisory_xact_lock(94880000 + %s)"
# Sums are read by many short scans of an index, of pages that are in memory; no report
# should take several processors of a server from others.
_SETTINGS: Final = (
    b"SET LOCAL search_path = satchel_usage, pg_temp; SET LOCAL jit = off; "
    b"SET LOCAL random_page_cost = 1.1; SET LOCAL max_parallel_workers_per_gather = 0"
)
# What the URL may say otherwise. A database that is gone should not stop a writer for
# minutes, which is how long TCP would try.
_DEFAULTS: Final = {
    "connect_timeout": "5",
    "tcp_user_timeout": "10000",
    "application_name": "satchel usage",
}
_SERIAL: Final = "INTEGER GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
_VERSION: Final = "schema_version INTEGER NOT NULL, oldest INTEGER NOT NULL"
_TABLES: Final = (
    f"CREATE TABLE satchel_usage ({_VERSION})",
    "INSERT INTO satchel_usage VALUES (1, 1)",
    SCHEMA.format(serial=_SERIAL, rowless=""),
    "CREATE INDEX loads_at ON loads USING brin (at)",
    "CREATE INDEX sums_day ON sums USING brin (day)",
)
_STEPS: Final = ("; ".join(_TABLES),)
# What is raised for a wrong value, on this side or by the server.
_VALUE_ERRORS: Final = (
    psycopg.DataError,
    psycopg.errors.CheckViolation,
    psycopg.errors.NotNullViolation,
)


class PostgresBase(Base):
    """A transaction of PostgreSQL."""

    day = f"CAST(floor(at / {DAY_S}) AS INTEGER)"
    tails = "SELECT number, summed, closed, seen FROM writers WHERE last_seq > summed"

    def text(self, sql: str) -> str:
        return sql.replace("?", "%s")

    def fill(
        self, table: str, columns: Sequence[str], rows: Sequence[Sequence[object]]
    ) -> None:
        copying = f"COPY {table} ({', '.join(columns)}) FROM STDIN"
        with self.connection.cursor() as cursor, cursor.copy(copying) as copy:
            write = copy.write_row
            try:
                for row in rows:
                    write(row)
            except psycopg.ProgrammingError as error:
                # On this side: the type of a value is none that can be stored.
                raise TypeError(table) from error


class PostgresStore(TableStore):
    """A PostgreSQL database; see `satchel.usage.EventStore`.

    A batch is one transaction. If the connection is lost, the next batch makes a new
    one, and asks which rows are stored: nothing counts twice.
    """

    # Since `open`.
    connection: "psycopg.Connection[tuple[Any, ...]]"

    def __init__(self, url: str) -> None:
        """Take the URL; nothing is opened yet."""
        super().__init__()
        self._url = url

    def connect(self, *, read_only: bool = False) -> None:
        """Connect, and make the tables that are missing."""
        with _named_errors(self._url):
            self.connection = _connected(self._url)
            try:
                if read_only:
                    _read_only(self.connection, self._url)
                else:
                    _migrate(self.connection, self._url)
            except BaseException:
                self.connection.close()
                raise

    @contextmanager
    def transaction(self, *, alone: bool = False) -> Generator[PostgresBase]:
        """Begin a transaction, on a new connection if the last one was lost."""
        if self.connection.closed:
            self._reconnect()
        with _named_errors(self._url), self.connection.transaction():
            # For each transaction, so that a pool of connections may be in between.
            self.connection.execute(_SETTINGS)
            if alone:
                self.connection.execute(_LOCK, (1,))
            yield PostgresBase(self.connection)

    def _reconnect(self) -> None:
        with _named_errors(self._url):
            self.connection = _connected(self._url)
        with self.transaction() as base:
            # The lock waits for a transaction whose end was not heard of.
            rows = base.rows(
                "SELECT last_seq FROM writers WHERE number = ? FOR UPDATE",
                (self._number,),
            )
        ((last,),) = rows
        if last != self._last:
            # A batch was stored that is in no pending sum: let SQL sum it up.
            self._last, self._folded = last, -1

    def write(self, rows: Sequence[Row], dropped: int, now: float) -> None:
        if self.connection.closed:
            self._reconnect()
        try:
            with row_errors(*_VALUE_ERRORS):
                self._store(rows, dropped, now)
        except psycopg.errors.UniqueViolation:
            # These rows are stored: ask again which ones.
            self.disconnect()
            raise
        self._fold_if_due(now)

    def close(self, dropped: int, now: float) -> None:
        try:
            self._close(dropped, now)
        finally:
            self.disconnect()

    def disconnect(self) -> None:
        with suppress(psycopg.Error):
            self.connection.close()


def _read_only(base: "psycopg.Connection[tuple[Any, ...]]", url: str) -> None:
    if not _version(base, url):
        raise MissingPathError(place_of(url))
    # One moment for all statements: a writer may add to the sums between them.
    base.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    base.read_only = True


def _migrate(base: "psycopg.Connection[tuple[Any, ...]]", url: str) -> None:
    """Take the steps that the tables have not taken; one replica at a time does."""
    if _version(base, url) >= POSTGRES_VERSION:
        return
    with base.transaction():
        base.execute(_LOCK, (2,))
        version = _version(base, url)
        if not version:
            # One that an operator made is there; to make it needs a right.
            there = "SELECT 1 FROM pg_namespace WHERE nspname = 'satchel_usage'"
            if not base.execute(there).fetchall():
                base.execute("CREATE SCHEMA satchel_usage")
        base.execute("SET LOCAL search_path = satchel_usage")
        for step in _STEPS[version:]:
            base.execute(step.encode())


def _version(base: "psycopg.Connection[tuple[Any, ...]]", url: str) -> int:
    """Return the version of the tables, 0 if there are none."""
    # Not by `to_regclass`, which may remember that it was not there.
    rows = base.execute(
        "SELECT 1 FROM pg_tables WHERE tablename = 'satchel_usage' "
        "AND schemaname = 'satchel_usage'"
    ).fetchall()
    if not rows:
        return 0
    # A later Satchel adds to the tables, so that earlier ones go on.
    ((version, oldest),) = base.execute(
        b"SELECT schema_version, oldest FROM satchel_usage.satchel_usage"
    ).fetchall()
    if oldest > POSTGRES_VERSION:
        later = f"a later Satchel needs version {oldest} of the tables"
        detail = f"{later}, known is {POSTGRES_VERSION}; update this one"
        raise ConfigError(place_of(url), detail)
    return int(version)


def _connected(url: str) -> "psycopg.Connection[tuple[Any, ...]]":
    whole = conninfo.make_conninfo(**{**_DEFAULTS, **_parsed(url)})
    return psycopg.connect(whole, autocommit=True, prepare_threshold=None)


def _parsed(url: str) -> dict[str, Any]:
    parts: dict[str, Any] | None = None
    with suppress(psycopg.Error):
        parts = conninfo.conninfo_to_dict(url)
    if parts is None or "@" in str(parts.get("host", "")):
        # Not the text of libpq, nor the URL: a password may be in either.
        raise ConfigError(
            "the postgresql: URL",
            "it cannot be read; expected postgresql://USER@HOST:PORT/DATABASE, with "
            "%40 for an @ and %2F for a / in a name or a password",
        ) from None
    return parts


def place_of(url: str) -> str:
    """Return the database that a URL names, without its password."""
    parts = _parsed(url)
    port = f":{parts['port']}" if "port" in parts else ""
    place = f"postgresql://{parts.get('host', '')}{port}/{parts.get('dbname', '')}"
    return f"{place} as {parts['user']}" if "user" in parts else place


_PASSWORD: Final = re.compile(r"password\s*=\s*\S+|://\S*@", re.IGNORECASE)


@contextmanager
def _named_errors(url: str) -> Generator[None]:
    """Turn errors of the connection into those that name the database, and no more."""
    try:
        yield
    except (
        psycopg.OperationalError,
        psycopg.InterfaceError,
        psycopg.errors.InsufficientPrivilege,
    ) as error:
        text = error.diag.message_primary or str(error).partition("\n")[0]
        reason = _PASSWORD.sub("...", text) or type(error).__name__
        raise SourceUnavailableError(place_of(url), reason) from None
