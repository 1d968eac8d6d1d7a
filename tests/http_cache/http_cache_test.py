#!/usr/bin/env python3
"""http_cache_test.py KILN: builds with an HTTP cache that works, and with others that do not.

  server   a small server that checks the rules that bazel-remote documents: a body under /cas is what its
           name says, a body under /ac is an ActionResult, a missing entry is 404
  nginx    the real nginx with WebDAV, if it is installed

The compilers are those of tests/trust/toolkit. Exits with 77 if there is no libcurl.
"""
import ctypes
import hashlib
import http.server
import pathlib
import shutil
import socket
import subprocess
import sys
import threading
import time

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(TESTS / "trust"), str(TESTS / "support")]
import nginx  # noqa: E402
import trust  # noqa: E402

check = lambda is_true, what, text="": is_true or trust.fail(what, text)


def is_action_result(body):
    """True if the top level of the message is well formed and has only fields of an ActionResult."""
    def varint():
        nonlocal body
        value = shift = 0
        while body:
            byte, body = body[0], body[1:]
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value
        return None
    while body:
        key = varint()
        if key is None or key & 7 not in (0, 2) or not 2 <= key >> 3 <= 12:
            return False
        length = varint()
        if length is None or (key & 7 == 2 and length > len(body)):
            return False
        body = body[length:] if key & 7 == 2 else body
    return True


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        self.kept, self.puts, self.mode = {}, 0, ""
        self.missed = []
        self.has_hung_up, self.gets_since_it_hung_up = False, 0
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body=b"", length=None):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)

    def drip(self, piece, pause):
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Length", str(1 << 40))
        self.end_headers()
        try:
            while True:
                self.wfile.write(piece)
                time.sleep(pause)
        except OSError:
            pass

    def do_GET(self):
        mode, body = self.server.mode, self.server.kept.get(self.path)
        self.server.gets_since_it_hung_up += self.server.has_hung_up
        if mode == "hangs":
            time.sleep(30)
        if mode == "errors":
            return self.answer(500)
        if mode == "drips":
            return self.drip(b"?" * 256, 0.1)
        if mode == "never ends":
            return self.drip(b"?" * (1 << 20), 0)
        if body is None:
            self.server.missed.append(self.path)
            return self.answer(404)
        if mode == "cuts short":
            self.answer(200, body[:-1], len(body))
            self.close_connection = True
            return None
        if mode == "changes" and self.path.startswith("/cas/"):
            body = body[:-1] + b"?"
        if mode == "rubbish" and self.path.startswith("/ac/"):
            body = b"<html>hello</html>"
        return self.answer(200, body)

    def do_PUT(self):
        if self.server.mode == "hangs up":
            self.server.has_hung_up = self.close_connection = True
            return self.answer(501)
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.puts += 1
        if self.server.mode == "refuses":
            return self.answer(403)
        kind, name = self.path.split("/")[1:]
        is_good = len(name) == 64 and (hashlib.sha256(body).hexdigest() == name if kind == "cas"
                                       else kind == "ac" and is_action_result(body))
        if not is_good:
            return self.answer(400)
        self.server.kept[self.path] = body
        return self.answer(200)

    def log_message(self, *_):
        pass


class Project:
    def __init__(self, kiln):
        self.world = trust.World(kiln)
        self.project = trust.Project(self.world, "project")
        self.expected = None

    def build(self, url, **variables):
        """Builds without any local files; returns the lines that the build printed."""
        shutil.rmtree(self.project.out, ignore_errors=True)
        shutil.rmtree(self.world.cache, ignore_errors=True)
        status, said = self.world.build(
            self.project, more={"KILN_CACHE_URL": url, "KILN_CACHE_TIMEOUT": "1", **variables}.items())
        check(status == 0, f"a build over {url}", said)
        outputs = self.project.outputs()
        self.expected = self.expected or outputs
        check(outputs == self.expected, f"a build over {url} made something else", said)
        return said

    def compiles(self):
        return sum(self.world.compiled().values())


def works(project, url, what):
    before = project.compiles()
    check("warning" not in project.build(url), f"{what}: a warning at first")
    check(project.compiles() == before + 3, f"{what}: the first build compiles")
    said = project.build(url)
    check(project.compiles() == before + 3 and "warning" not in said, f"{what}: the second build compiles", said)
    check("0 ran, 6 from the cache" in said, f"{what}: steps", said)
    def cache(*words):
        return subprocess.run([project.world.kiln, "cache", *words], capture_output=True, text=True, check=True,
                              env={**project.world.environment,
                                   "KILN_CACHE_URL": url.replace("//", "//me:secret@")}).stdout
    shown = cache()
    lines = [line.split() for line in shown.splitlines()]
    row = next(line for line in lines if line and line[0] == "HTTP")
    check(int(row[1]) >= 6 and row[-1] == "0" and "secret" not in shown and url in shown, f"{what}: kiln cache", shown)
    check(": 6 outputs" not in cache("trim", "--age", "1h", "--size", "1K") and ": 0 outputs" in cache("trim", "--age", "0m"),
          f"{what}: kiln cache trim")


def asks_once(kiln):
    server = Server()
    Project(kiln).build(server.url)
    check(server.missed and len(set(server.missed)) == len(server.missed), "what a server lacks is asked for again",
          "\n".join(sorted(server.missed)))


def breaks(kiln, server):
    project = Project(kiln)
    project.build(server.url)
    warning = f"kiln: warning: the cache {server.url} is "
    for mode, said_of_it in (("errors", "not used any more: the server answered HTTP 500"), ("hangs", "not used any more: "),
                             ("cuts short", "not used any more: "),
                             ("never ends", "not used any more: it sends more than the 16777216 bytes that are read"),
                             ("refuses", "only read from now on: the server answered HTTP 403"),
                             ("hangs up", "only read from now on: ")):
        if mode == "refuses":
            server.kept.clear()
        server.mode = mode
        start = time.monotonic()
        said = project.build(server.url)
        check(warning + said_of_it in said and said.count("warning") == 1, mode, said)
        check(time.monotonic() - start < 15, f"{mode}: it took {time.monotonic() - start} s")
    check(server.gets_since_it_hung_up > 0, "a server that hangs up on what it is given is not read any more")
    server.mode = ""
    project.build(server.url)
    for mode in ("changes", "rubbish"):
        server.mode = mode
        before = project.compiles()
        project.build(server.url)
        check(project.compiles() == before + 3, f"{mode}: what does not check out was used")
    server.mode = ""
    before, puts = project.compiles(), server.puts
    project.build(server.url, KILN_CACHE_HTTP="read")
    check(project.compiles() == before, "reading alone")
    server.kept.clear()
    project.build(server.url, KILN_CACHE_HTTP="read")
    check(server.puts == puts and not server.kept, "reading alone writes")
    nobody = socket.socket()
    nobody.bind(("127.0.0.1", 0))
    said = project.build(f"http://127.0.0.1:{nobody.getsockname()[1]}")
    check("is not used any more" in said, "nobody listens", said)


class Dripping:
    """A server that keeps sending and never ends. A build gives up on it, and can be interrupted."""

    def __init__(self, kiln):
        self.server = Server()
        self.server.mode = "drips"
        self.project = Project(kiln)
        self.waits, self.is_told = self.start(), self.start("told")

    def start(self, name="waits"):
        world = self.project.world
        return world.start(trust.Project(world, name), more={
            "KILN_CACHE_URL": self.server.url, "KILN_CACHE_TIMEOUT": "1", "KILN_CACHE_DIR": f"{world.root}/{name}-cache"}.items())

    def check(self):
        time.sleep(1)
        self.is_told.terminate()
        start = time.monotonic()
        said = self.is_told.communicate(timeout=60)[1]
        check(self.is_told.returncode == 143 and time.monotonic() - start < 10, "drips: it does not end", said)

    def check_at_last(self):
        said = self.waits.communicate(timeout=60)[1]
        check(self.waits.returncode == 0 and "is not used any more" in said, "drips: it waits", said)


def main():
    kiln = sys.argv[1]
    try:
        ctypes.CDLL("libcurl.so.4")
    except OSError:
        print("SKIPPED: there is no libcurl.so.4: apt-get install libcurl4")
        sys.exit(77)
    dripping = Dripping(kiln)
    dripping.check()
    server = Server()
    works(Project(kiln), server.url, "server")
    asks_once(kiln)
    breaks(kiln, server)
    dripping.check_at_last()
    program = nginx.find()
    if program is None:
        print("a server: all as it should be; SKIPPED: there is no nginx")
        return
    project = Project(kiln)
    folder = project.world.root / "nginx"
    folder.mkdir()
    with nginx.serve(program, folder) as url:
        works(project, url, "nginx")
    print("a server, and nginx with WebDAV: all as it should be")


main()
