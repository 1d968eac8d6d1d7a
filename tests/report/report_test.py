#!/usr/bin/env python3
"""report_test.py KILN FOLDER [--screenshot FILE]: opens the report of a build in headless Chromium, and finds the largest image,
the kernel with the most registers and the slowest step, with the page's search and its column heads.

Exits with 77 if there is no Chromium, or no build in FOLDER. KILN_CHROMIUM names the program.
"""
import base64
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def skip(why):
    print(f"SKIPPED: {why}")
    sys.exit(77)


def check(is_true, what):
    if not is_true:
        print(f"FAILED: {what}", file=sys.stderr)
        sys.exit(1)


class Browser:
    """A Chromium page, driven by the DevTools protocol over two pipes, with a NUL after each message."""

    def __init__(self, program, page, profile):
        from_us, ours = os.pipe()
        theirs, to_us = os.pipe()

        def as_descriptors_3_and_4():
            here, there = os.dup(from_us), os.dup(to_us)
            os.dup2(here, 3)
            os.dup2(there, 4)

        words = [program, "--headless", "--disable-gpu", "--remote-debugging-pipe",
                 f"--user-data-dir={profile}"]
        if os.geteuid() == 0:
            words.append("--no-sandbox")
        self.process = subprocess.Popen(words, preexec_fn=as_descriptors_3_and_4, close_fds=False,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(from_us)
        os.close(to_us)
        self.out, self.into, self.rest = ours, theirs, b""
        self.count, self.session, self.loaded = 0, None, False
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Network.enable")
        self.call("Network.emulateNetworkConditions", offline=True, latency=0,
                  downloadThroughput=-1, uploadThroughput=-1)
        self.call("Page.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=1280, height=1000,
                  deviceScaleFactor=1, mobile=False)
        self.call("Page.navigate", url=page.as_uri())
        while not self.loaded:
            self.message()

    def message(self):
        while b"\0" not in self.rest:
            more = os.read(self.into, 1 << 20)
            check(more, "Chromium ended")
            self.rest += more
        text, self.rest = self.rest.split(b"\0", 1)
        message = json.loads(text)
        self.loaded = self.loaded or message.get("method") == "Page.loadEventFired"
        return message

    def call(self, method, **parameters):
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == self.count:
                check("result" in answer, f"{method}: {answer}")
                return answer["result"]

    def run(self, script):
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        check("exceptionDetails" not in answer, f"{script}: {answer}")
        return answer["result"].get("value")

    def search(self, words):
        self.run("document.getElementById('search').focus(); document.getElementById('search').select()")
        self.call("Input.insertText", text=words)
        if not words:
            self.run("document.getElementById('search').value = ''; "
                     "document.getElementById('search').dispatchEvent(new Event('input'))")

    def sort(self, table, column):
        """Clicks the column head until the largest value is first."""
        for _ in range(2):
            self.run(f"document.querySelector('#{table} button[data-key={column}]').click()")
            if self.run(f"document.querySelector('#{table} th[aria-sort=descending] button')?.dataset.key") == column:
                return
        check(False, f"{table} does not sort by {column}")

    def rows(self, table):
        return self.run(f"[...document.querySelectorAll('#{table} tbody tr')]"
                        ".map(row => [...row.cells].map(cell => cell.textContent))")

    def close(self):
        self.session = None
        self.call("Browser.close")
        self.process.wait(timeout=20)


def main():
    kiln, folder = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    program = os.environ.get("KILN_CHROMIUM") or next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        skip("there is no Chromium: apt-get install chromium-headless-shell, or name one by KILN_CHROMIUM")
    if not (folder / "kiln.json").exists():
        skip(f"no build in {folder}")
    with tempfile.TemporaryDirectory(prefix="kiln-report-", ignore_cleanup_errors=True) as work:
        compare(kiln, folder, program, pathlib.Path(work))


def compare(kiln, folder, program, work):
    catalog = json.loads((folder / "kiln.json").read_text())
    trace = folder / ".kiln" / "timeline.json"
    if not trace.exists():
        trace = work / "trace.json"
        events = [{"name": f"compile {n}", "ph": "X", "ts": n * 1000, "dur": (n * 7 % 5) * 10**6, "tid": 1,
                   "args": {"status": "ran"}} for n in range(5)]
        trace.write_text(json.dumps({"traceEvents": events}))
    page = work / "report.html"
    subprocess.run([kiln, "report", str(folder), "--out", str(page), "--trace", str(trace)],
                   check=True, stdout=subprocess.DEVNULL)
    text = page.read_text()
    check(not re.search(r"""(src|href)\s*=|url\(|@import|https?://""", text), "the page asks for the network")

    images = catalog["images"]
    largest = max(images, key=lambda image: image["size"])
    shown = lambda kernel: kernel["name"] + (f" ({kernel['demangled']})" if "demangled" in kernel else "")
    kernels = [(kernel["registers"] or 0, shown(kernel), image["module"], image["target"])
               for image in images for kernel in image["kernels"]]
    most = max(kernels)
    steps = [event for event in json.loads(trace.read_text())["traceEvents"]
             if event["ph"] == "X" and event.get("args", {}).get("status")]
    slowest = max(steps, key=lambda event: event["dur"])

    browser = Browser(program, page, work / "profile")
    browser.sort("images", "size")
    first = browser.rows("images")[0]
    check(first[5].replace(",", "") == str(largest["size"]), f"the largest image is {largest['path']}, not {first}")
    browser.sort("kernels", "registers")
    first = browser.rows("kernels")[0]
    check(first[3] == f"{most[0]:,}", f"most registers has {most}, not {first}")
    browser.sort("steps", "time")
    first = browser.rows("steps")[0]
    check(abs(int(first[3].replace(",", "")) - slowest["dur"] / 1000) <= 1,
          f"the slowest step is {slowest['name']}, not {first}")

    if "--screenshot" in sys.argv:
        shot = browser.call("Page.captureScreenshot", format="png")["data"]
        pathlib.Path(sys.argv[sys.argv.index("--screenshot") + 1]).write_bytes(base64.b64decode(shot))

    # With the search alone, each of them is the only row that contains all of its words.
    browser.search(largest["path"])
    check([row[0] for row in browser.rows("images")] == [largest["path"]], "the search of an image")
    browser.search(f"{most[1]} {most[2]} {most[3]}")
    found = browser.rows("kernels")
    check(found[0][:3] == [most[1], most[2], most[3]], f"the search of a kernel: {found[:3]}")
    browser.search(slowest["name"])
    check(browser.rows("steps")[0][0] == slowest["name"], "the search of a step")
    browser.search("no such thing anywhere")
    check(browser.rows("images") == [] and browser.rows("kernels") == [], "a search of nothing")
    browser.search("")
    check(len(browser.rows("images")) == min(len(images), 501), "all images after a search")

    backs = []
    for scheme in ("light", "dark"):
        browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        backs.append(browser.run("getComputedStyle(document.body).backgroundColor"))
    check(backs == ["rgb(255, 255, 255)", "rgb(20, 23, 26)"], f"light and dark: {backs}")
    browser.close()
    print(f"{len(images)} images, {len(kernels)} kernels, {len(steps)} steps: each found by sort and by search")


main()
