"""Signatures that cosign has put next to a release are brought with it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from satchel.errors import SkillError
from satchel_store.http._client import ATTEMPTS
from tests.install.oci.conftest import (
    MANIFEST,
    FakeRegistry,
    Registry,
    Request,
    opened,
    pushed,
)

KIND = "application/vnd.dev.sigstore.bundle.v0.3+json"
INDEX = "application/vnd.oci.image.index.v1+json"


def attach(registry: Registry, digest: str, bundle: bytes, kind: str = KIND) -> None:
    """Put a bundle where cosign does in a registry without the API for it."""
    layer = {"mediaType": KIND, **registry.put_blob(bundle)}
    empty = "application/vnd.oci.empty.v1+json"
    config = {"mediaType": empty, **registry.put_blob(b"{}")}
    head: Mapping[str, Any] = {"schemaVersion": 2, "mediaType": MANIFEST}
    parts = {"artifactType": kind, "config": config, "layers": [layer]}
    name = registry.put("signature", {**head, **parts})
    size = len(json.dumps({**head, **parts}))
    entry = {"mediaType": MANIFEST, "digest": name, "size": size, "artifactType": kind}
    index = {"schemaVersion": 2, "mediaType": INDEX, "manifests": [entry]}
    registry.put(digest.replace(":", "-"), index, INDEX)


def test_a_signature_is_found_by_the_tag_of_a_digest(
    registry: Registry, library: Path
) -> None:
    digest = pushed(registry, library)
    with opened(registry) as skills:
        (source,) = skills.registry.sources.values()
        assert source.bundles() == ()  # type: ignore[attr-defined]
        attach(registry, digest, b'{"mediaType": "x"}')
        assert source.bundles() == ()  # type: ignore[attr-defined]
        skills.sync()
        assert source.bundles() == (b'{"mediaType": "x"}',)  # type: ignore[attr-defined]


def test_what_is_no_signature_is_left(registry: Registry, library: Path) -> None:
    digest = pushed(registry, library)
    attach(registry, digest, b"{}", "application/spdx+json")
    with opened(registry) as skills:
        (source,) = skills.registry.sources.values()
        assert source.bundles() == ()  # type: ignore[attr-defined]


def test_a_registry_that_goes_away_is_asked_once_for_all_skills(
    fake: FakeRegistry, library: Path
) -> None:
    pushed(fake, library)
    with opened(fake) as skills:
        (source,) = skills.registry.sources.values()

        def away(request: Request) -> bool:
            request.answer(500)
            return True

        fake.fault = away
        before = len(fake.requests)
        for _ in range(5):
            with pytest.raises(SkillError, match="answers 500"):
                source.bundles()  # type: ignore[attr-defined]
        assert sum("referrers" in one for one in fake.requests[before:]) == ATTEMPTS
        fake.fault = lambda _: False
        skills.sync()
        assert source.bundles() == ()  # type: ignore[attr-defined]


@pytest.mark.parametrize("data", [b"<html>", b"[]", b'{"manifests": 5}'])
def test_a_list_that_is_none_is_an_error(
    data: bytes, fake: FakeRegistry, library: Path
) -> None:
    digest = pushed(fake, library)
    fake.manifests[digest.replace(":", "-")] = data
    with opened(fake) as skills:
        (source,) = skills.registry.sources.values()
        with pytest.raises(SkillError):
            source.bundles()  # type: ignore[attr-defined]
