"""A fleet that runs: servers, a balancer, a registry and a database."""

from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from satchel.testing import write_pack
from tests.fleet.engines import (
    Balancer,
    Engine,
    Postgres,
    Registry,
    Replica,
    free_port,
    scratch,
)
from tests.functional.library import run

__all__ = ["Fleet", "fleet", "publish"]

REFRESH_S = 0.5


@dataclass
class Fleet:
    """What runs; each part may be killed, and started again."""

    folder: Path
    registry: Registry
    database: Postgres
    replicas: Sequence[Replica]
    balancer: Balancer

    @property
    def url(self) -> str:
        """Where clients ask."""
        return self.balancer.url

    @property
    def parts(self) -> list[Engine]:
        """All that may be killed."""
        return [self.registry, self.database, *self.replicas, self.balancer]


def publish(registry: Registry, folder: Path, version: int, skills: int = 20) -> None:
    """Push a release in which each text and each file has the version."""
    library = folder / f"library-{version}"
    for number in range(skills):
        write_pack(
            library,
            f"skill-{number}",
            f"Use {number} when testing.",
            f"Do {number} as of version {version}.\n",
            files={"references/more.md": f"More of version {version}.\n"},
        )
    release = folder / f"release-{version}"
    for line in (
        ("build", str(release), str(library)),
        ("push", registry.address(), str(release)),
    ):
        done = run(*line)
        assert done.exit_code == 0, done.output


@contextmanager
def fleet(*arguments: str, count: int = 3, **environ: str) -> Generator[Fleet]:
    """Start a fleet of so many servers, and stop it at the end of the block.

    Raises:
        MissingEngineError: A program of an engine is not here.
    """
    with scratch() as folder, ExitStack() as stack:

        def started(engine: Engine) -> None:
            stack.callback(engine.stop)
            engine.start()

        registry = Registry(free_port(), folder)
        started(registry)
        publish(registry, folder, 1)
        database = Postgres(free_port(), folder)
        started(database)
        env = {"SATCHEL_USAGE": database.url, **environ}
        options = (registry.address(), "--refresh", str(REFRESH_S), *arguments)
        replicas = [
            Replica(free_port(), folder, number, options, env)
            for number in range(count)
        ]
        for replica in replicas:
            started(replica)
        balancer = Balancer(free_port(), folder, [each.port for each in replicas])
        started(balancer)
        yield Fleet(folder, registry, database, replicas, balancer)
