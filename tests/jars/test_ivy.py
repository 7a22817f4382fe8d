"""Ivy uses the proxies of the environment, and its errors become one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from brookmere.errors import JarNotFoundError
from brookmere.jars import resolve
from brookmere.jars.ivy import _complaint, _proxy_flags


def test_proxies_of_the_environment_are_passed_to_java() -> None:
    flags = _proxy_flags({"https_proxy": "http://proxy.example:3128", "NO_PROXY": "localhost, .example.org"})

    assert flags == [
        "-Dhttps.proxyHost=proxy.example",
        "-Dhttps.proxyPort=3128",
        "-Dhttp.nonProxyHosts=localhost|*.example.org",
    ]


def test_environment_without_proxies_changes_nothing() -> None:
    assert _proxy_flags({"no_proxy": "localhost", "https_proxy": ""}) == []


@pytest.mark.usefixtures("offline")
def test_missing_network_is_reported_with_the_workaround(cache: Path) -> None:
    with pytest.raises(JarNotFoundError) as failure:
        resolve("kafka-clients")

    what, found, remedy = str(failure.value).splitlines()
    assert what == ("The Java libraries of 'kafka-clients' are not in the cache, and cannot be downloaded.")
    assert found.startswith("Found: the repository cannot be reached (java.net.ConnectException")
    assert "`brookmere kafka jars --to DIR kafka-clients`" in remedy
    assert "--jars DIR or jars.dir=DIR" in remedy
    assert [file.name for file in cache.iterdir()] == ["fetch.lock"]


def test_missing_library_is_named_by_its_coordinates() -> None:
    output = "\t\t:: org.apache.kafka#kafka-clients;9.9: not found\n\t\t:::::::\n"

    assert _complaint(output) == "the repository does not have org.apache.kafka:kafka-clients:9.9"


def test_unknown_complaint_is_passed_on() -> None:
    assert _complaint("loading\n[FAILED     ] a#b;1!b.jar: invalid sha1\n") == (
        "[FAILED     ] a#b;1!b.jar: invalid sha1"
    )
    assert _complaint("") == "Ivy gave no reason"
