"""A framework that is missing is an error that names the extra."""

from importlib import import_module

import pytest

from satchel.adapters._base import framework
from satchel.errors import ExtraMissingError
from tools.adapters.frameworks import NAMES, Adapter

ADAPTERS = [each for each in map(Adapter, NAMES) if each.source.exists()]


@pytest.mark.row("E19")
def test_a_missing_framework_names_its_extra() -> None:
    with (
        pytest.raises(ExtraMissingError) as caught,
        framework("The String SDK", "strings"),
    ):
        import_module("strings_that_nobody_has")

    assert str(caught.value).startswith("The String SDK needs an extra: ")
    assert "[strings]" in str(caught.value)
    assert "strings_that_nobody_has" in str(caught.value.__cause__)


@pytest.mark.row("E19")
def test_a_framework_that_lacks_a_name_is_too_old() -> None:
    with pytest.raises(ExtraMissingError), framework("The String SDK", "strings"):
        raise ImportError("cannot import name 'Strings' from 'strings'")


@pytest.mark.row("E19")
@pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda each: each.name)
def test_every_adapter_says_what_it_needs(adapter: Adapter) -> None:
    """Development has no framework installed: they clash."""
    with pytest.raises(ExtraMissingError) as caught:
        import_module(f"satchel.adapters.{adapter.name}")

    assert caught.value.extra == adapter.extra


def test_other_errors_pass() -> None:
    with pytest.raises(ValueError, match="of its own"), framework("x", "x"):
        raise ValueError("of its own")
