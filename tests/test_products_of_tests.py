"""Each test file belongs to a product: tests/products.toml."""

import pytest

from tools.tests_of import product_of, test_files as files_with_tests


def test_each_test_file_belongs_to_a_product() -> None:
    """Add its path to tests/products.toml."""
    assert [file for file in files_with_tests() if product_of(file) is None] == []


@pytest.mark.parametrize(
    ("file", "product"),
    [
        ("tests/unit/sources/http/test_client.py", "satchel_store"),
        ("tests/unit/sources/test_local.py", "satchel"),
        ("tests/functional/test_serve_log.py", "satchel_server"),
        ("tests/test_house.py", "house"),
    ],
)
def test_the_longest_path_that_fits_decides(file: str, product: str) -> None:
    assert product_of(file) == product
