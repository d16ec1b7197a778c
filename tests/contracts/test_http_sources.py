"""Sources over HTTP keep the contract, with a real server on the loopback."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from satchel import Satchel, sources
from satchel.protocols import SkillSource
from satchel.testing import Packs, SourceContract
from satchel_store.release import build_folder, publish
from tests.unit.sources.http.site import Site, serving

pytestmark = pytest.mark.row("R08")


class OnASite(SourceContract):
    """Has a site of its own for each test."""

    site: Site
    folder: Path

    @pytest.fixture(autouse=True)
    def _site(self, tmp_path: Path) -> Iterator[None]:
        self.folder = tmp_path
        for self.site in serving(Site(etags=True)):
            yield


class TestIndex(OnASite):
    def make_source(self, packs: Packs) -> SkillSource:
        self.site.put_skills(packs)
        return sources.http(self.site.url, allow_private=True)


class TestIndexWithACache(OnASite):
    def make_source(self, packs: Packs) -> SkillSource:
        self.site.put_skills(packs)
        cache = self.folder / "cache"
        return sources.http(self.site.url, allow_private=True, cache=cache)


class TestOldIndex(OnASite):
    def make_source(self, packs: Packs) -> SkillSource:
        self.site.put_old(packs)
        return sources.http(self.site.url, allow_private=True)


class TestPinned(OnASite):
    number = 0

    def make_source(self, packs: Packs) -> SkillSource:
        self.number += 1
        dist, self.site.root = self.folder / str(self.number), self.folder / "site"
        with Satchel(sources.memory(packs)) as skills:
            build_folder(skills, dist, allow_findings=True)
        release = publish(sources.released(dist), self.site.root).release
        return sources.http(self.site.url, pin=release.id, allow_private=True)
