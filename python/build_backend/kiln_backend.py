"""Builds the wheel of the pure Python package `kiln` (PEP 517). It uses only the standard library,
so that `pip install PREFIX/share/kiln/python` downloads nothing. pip runs it in the folder of
pyproject.toml.

A wheel built in an installed kiln contains `kiln/_prefix.py`, which names the prefix of that kiln.
"""

import base64
import hashlib
import pathlib
import re
import runpy
import zipfile


def _project():
    """Returns the lines of the form `key = "value"` of [project] in pyproject.toml."""
    text = pathlib.Path("pyproject.toml").read_text(encoding="utf-8").split("[project]")[1]
    return dict(re.findall(r'^([a-z-]+) = "(.*)"$', text, re.MULTILINE))


def _files():
    """Yields the files of the wheel in order, without its RECORD."""
    project = _project()
    for path in sorted(pathlib.Path("kiln").glob("*.py")):
        yield path.as_posix(), path.read_bytes()
    prefix = pathlib.Path.cwd().parents[2]  # the folder is PREFIX/share/kiln/python
    # The package itself is not imported, because the library that it needs may be missing.
    if runpy.run_path("kiln/_place.py")["runtime_libraries"](prefix):
        yield "kiln/_prefix.py", f"PREFIX = {str(prefix)!r}\n".encode()
    about = f"kiln-{project['version']}.dist-info"
    metadata = (
        f"Metadata-Version: 2.1\nName: kiln\nVersion: {project['version']}\nSummary: {project['description']}\n"
        f"License: Apache-2.0\nRequires-Python: {project['requires-python']}\n"
        "Description-Content-Type: text/markdown\n\n"
    )
    yield f"{about}/METADATA", metadata.encode() + pathlib.Path("README.md").read_bytes()
    yield f"{about}/WHEEL", b"Wheel-Version: 1.0\nGenerator: kiln\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    version = _project()["version"]
    name = f"kiln-{version}-py3-none-any.whl"
    record = ""
    with zipfile.ZipFile(pathlib.Path(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:

        def add(path, content):
            entry = zipfile.ZipInfo(path)  # with the date 1980, so that the same files give the same bytes
            entry.external_attr = 0o100644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, content)

        for path, content in _files():
            add(path, content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record += f"{path},sha256={digest},{len(content)}\n"
        path = f"kiln-{version}.dist-info/RECORD"
        add(path, f"{record}{path},,\n")
    return name


def build_sdist(sdist_directory, config_settings=None):
    raise NotImplementedError("kiln's sources are its repository; this makes wheels alone")
