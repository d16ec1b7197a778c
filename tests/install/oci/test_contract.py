"""A source of a registry keeps the contract of sources, in each layout."""

import gzip
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from satchel import Satchel, sources
from satchel.protocols import SkillSource
from satchel.runtime import open_inputs
from satchel.testing import Packs, SourceContract
from satchel_store.release import build_folder
from tests.functional.library import run
from tests.install.oci.conftest import FakeRegistry
from tests.install.oci.test_layouts import ARCHIVE, put, tar

pytestmark = [pytest.mark.row("R08"), pytest.mark.slow]


class OfARegistry(SourceContract):
    """Has a registry for all tests of one."""

    fake: FakeRegistry
    folder: Path

    @pytest.fixture(autouse=True)
    def _registry(self, tmp_path: Path) -> Iterator[None]:
        self.folder = tmp_path
        with closing(FakeRegistry()) as self.fake:
            yield

    def opened(self) -> SkillSource:
        address = self.fake.address()
        (source,) = open_inputs((address,), allow_private=True).sources
        return source


class TestRelease(OfARegistry):
    number = 0

    def make_source(self, packs: Packs) -> SkillSource:
        self.number += 1
        dist = self.folder / str(self.number)
        with Satchel(sources.memory(packs)) as skills:
            build_folder(skills, dist, allow_findings=True)
        result = run("push", self.fake.address(), str(dist))
        assert result.exit_code == 0, result.output
        return self.opened()


class TestArchive(OfARegistry):
    def make_source(self, packs: Packs) -> SkillSource:
        files = {
            f"{name}/{path}": data
            for name, pack in packs.items()
            for path, data in pack.items()
        }
        put(self.fake, [(gzip.compress(tar(files)), ARCHIVE, "")])
        return self.opened()
