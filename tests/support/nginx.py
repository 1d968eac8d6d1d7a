"""A real nginx with WebDAV on a free port, as an HTTP cache."""
import contextlib
import os
import shutil
import socket
import subprocess
import time


def find():
    """Returns the path of the program, or None."""
    return shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")


@contextlib.contextmanager
def serve(program, folder):
    """Stores PUT files below folder/kept, configured as in docs/BUILD.md; yields the address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (folder / "kept").mkdir(parents=True, exist_ok=True)
    temps = "".join(f"{name}_temp_path {folder}/temp;" for name in
                    ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (folder / "nginx.conf").write_text(
        f"daemon off; master_process off; pid {folder}/pid; error_log {folder}/log;\n"
        f"events {{}} http {{ access_log off; {temps}\n"
        f" server {{ listen 127.0.0.1:{port}; root {folder}/kept; client_max_body_size 0;\n"
        "  location / { dav_methods PUT; create_full_put_path on; } } }\n")
    process = subprocess.Popen([program, "-p", str(folder), "-c", str(folder / "nginx.conf")],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()
