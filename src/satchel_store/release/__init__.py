"""Skills built into a release, published on a static site, and read as a source."""

from typing import TYPE_CHECKING

from satchel.lazy import lazy_door

if TYPE_CHECKING:
    from satchel_store.release._build import (
        UNFINISHED_CODE as UNFINISHED_CODE,
        BuiltRelease as BuiltRelease,
        build_release as build_release,
        is_refused as is_refused,
    )
    from satchel_store.release._discovery_index import (
        DIGEST_HEADER as DIGEST_HEADER,
        INDEX_V1 as INDEX_V1,
        INDEX_V2 as INDEX_V2,
        DiscoveryIndex as DiscoveryIndex,
        IndexEntry as IndexEntry,
        NotAnIndexError as NotAnIndexError,
        index_v1 as index_v1,
        index_v2 as index_v2,
        parse_index as parse_index,
    )
    from satchel_store.release._document import (
        DocumentParser as DocumentParser,
        canonical_json as canonical_json,
        resource_to_json as resource_to_json,
    )
    from satchel_store.release._format import (
        FORMAT as FORMAT,
        SITE_FORMAT as SITE_FORMAT,
        check_release_id as check_release_id,
        parse_release as parse_release,
        parse_release_file as parse_release_file,
        render_pointer as render_pointer,
        render_release as render_release,
    )
    from satchel_store.release._publication import (
        Artifact as Artifact,
        artifact_bytes as artifact_bytes,
        plan_publication as plan_publication,
    )
    from satchel_store.release._site import (
        PublishedRelease as PublishedRelease,
        build_folder as build_folder,
        check_not_in_sources as check_not_in_sources,
        publish as publish,
    )
    from satchel_store.release._source import (
        ReleaseSource as ReleaseSource,
        is_release as is_release,
        release_folder as release_folder,
    )

__getattr__ = lazy_door(
    __name__,
    {
        "_build": "BuiltRelease build_release UNFINISHED_CODE is_refused",
        "_discovery_index": "DIGEST_HEADER INDEX_V1 INDEX_V2 DiscoveryIndex IndexEntry "
        "NotAnIndexError index_v1 index_v2 parse_index",
        "_document": "DocumentParser canonical_json resource_to_json",
        "_format": "FORMAT SITE_FORMAT check_release_id "
        "parse_release parse_release_file render_pointer render_release",
        "_publication": "Artifact artifact_bytes plan_publication",
        "_site": "PublishedRelease build_folder check_not_in_sources publish",
        "_source": "ReleaseSource is_release release_folder",
    },
)
