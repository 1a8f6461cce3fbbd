"""A Kubernetes control plane for tests: the pytest fixture `coxswain`, and `Coxswain` for other runners."""

import os
import re
import shutil
import subprocess
import tempfile

import pytest


class Coxswain:
    """A running control plane; use it with `with`. Flags are those of `coxswain up`."""

    def __init__(self, *flags):
        self._folder = tempfile.mkdtemp(prefix="coxswain-")
        data = os.path.join(self._folder, "data")
        command = [os.environ.get("COXSWAIN", "coxswain"), "up", "--port=0", "--storage=memory", f"--data-dir={data}"]
        self._errors = open(os.path.join(self._folder, "errors"), "w+")
        self._process = subprocess.Popen([*command, *flags], stdout=subprocess.PIPE, stderr=self._errors, text=True)
        line = self._process.stdout.readline()
        match = re.search(r"ready at (\S+), run: export KUBECONFIG=(.+)", line)
        if match is None:
            self._errors.seek(0)
            reason = self._errors.read()
            self.stop()
            raise RuntimeError(f"coxswain did not start: {line}{reason}")
        #: where it serves, and the kubeconfig file of an administrator
        self.url, self.kubeconfig = match.groups()

    def stop(self):
        """Ends the server and removes its files."""
        self._process.terminate()
        self._process.wait(timeout=30)
        self._process.stdout.close()
        self._errors.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def pytest_addoption(parser):
    parser.addini("coxswain_flags", "flags of coxswain up for the fixture", type="args", default=[])


@pytest.fixture(scope="session")
def coxswain(request):
    """One control plane for the session."""
    with Coxswain(*request.config.getini("coxswain_flags")) as server:
        yield server
