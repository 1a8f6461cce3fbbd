import os
import ssl
import urllib.request

import pytest
from pytest_coxswain import Coxswain


def readyz(url):
    return urllib.request.urlopen(f"{url}/readyz", context=ssl._create_unverified_context()).read()


def test_the_fixture_serves(coxswain):
    assert readyz(coxswain.url) == b"ok"
    assert "certificate-authority-data" in open(coxswain.kubeconfig).read()


def test_it_stops_and_removes_its_files():
    with Coxswain("--controllers=none") as server:
        assert readyz(server.url) == b"ok"
    assert not os.path.exists(os.path.dirname(server.kubeconfig))
    with pytest.raises(OSError):
        readyz(server.url)


def test_it_tells_why_it_did_not_start():
    with pytest.raises(RuntimeError, match="unknown option '--no-such-flag'"):
        Coxswain("--no-such-flag")
