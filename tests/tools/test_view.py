#!/usr/bin/env python3
"""The server of `repose view`: what it serves, whom it refuses, and that the run never notices.

    test_view.py REPOSE

Sockets are spoken to byte by byte, so that what no browser would send can be sent too. How the page looks and
behaves is the matter of test_page.py.
"""

import base64
import contextlib
import json
import math
import os
import random
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

REPOSE = os.path.abspath(os.environ.get("REPOSE") or (sys.argv.pop(1) if len(sys.argv) > 1 else "repose"))
SLOW = 5.0 if os.environ.get("REPOSE_INSTRUMENTED") else 1.0

# 400 particles in 2D: a frame takes milliseconds
HEAP = """
scene { title = "Small heap", dimension = 2, dx = 0.02, fps = 48, frames = %(frames)d %(more)s }
local soil = param("soil", {"dry", "damp"})
local sand = material.sand { friction_angle = param("angle", 35, "degrees"), cohesion = soil == "damp" and 50 or 0 }
particles { material = sand, shape = box { min = {0, 0}, max = {0.2, 0.2} }, sampling = "lattice" }
collider { shape = half_space { point = {0, 0}, normal = {0, 1} } }
"""


def heap(frames=3, more=""):
    return HEAP % {"frames": frames, "more": more}


class Lost(Exception):
    """The server has closed the connection; .code says why, when it did."""

    def __init__(self, code=None):
        super().__init__(f"closed: {code}")
        self.code = code


class Socket:
    """A WebSocket as a page opens it, or with other headers."""

    def __init__(self, port, path="/socket", timeout=10 * SLOW, **headers):
        self.raw = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        host = f"127.0.0.1:{port}"
        given = {"Host": host, "Upgrade": "websocket", "Connection": "Upgrade", "Origin": f"http://{host}",
                 "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(), "Sec-WebSocket-Version": "13",
                 "Sec-WebSocket-Protocol": "repose-view"}
        given.update({name.replace("_", "-"): value for name, value in headers.items()})
        lines = [f"GET {path} HTTP/1.1"] + [f"{n}: {v}" for n, v in given.items() if v is not None]
        self.raw.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        self.file = self.raw.makefile("rb")
        first = self.file.readline()
        self.status = int(first.split()[1]) if first else 0
        while self.status and self.file.readline() not in (b"\r\n", b""):
            pass
        self.waiting = []
        self.heard = b""

    def close(self):
        self.file.close()
        self.raw.close()

    def frame(self, opcode, data=b"", last=True, masked=True, length=None):
        size = len(data) if length is None else length
        head = bytes([(0x80 if last else 0) | opcode])
        bit = 0x80 if masked else 0
        head += (bytes([bit | size]) if size < 126 else bytes([bit | 126]) + struct.pack(">H", size) if size < 65536
                 else bytes([bit | 127]) + struct.pack(">Q", size))
        mask = os.urandom(4)
        body = bytes(b ^ mask[i % 4] for i, b in enumerate(data)) if masked else data
        self.raw.sendall(head + (mask if masked else b"") + body)

    def send(self, message):
        self.frame(1, (message if isinstance(message, str) else json.dumps(message)).encode())

    def read(self, count):
        data = self.file.read(count)
        if len(data) < count:
            raise Lost()
        return data

    def message(self):
        """The next message: JSON as an object, of a binary one with its numbers under "data"."""
        data, kind = b"", None
        while True:
            first, size = self.read(2)
            size &= 127
            size = struct.unpack(">H", self.read(2))[0] if size == 126 else \
                struct.unpack(">Q", self.read(8))[0] if size == 127 else size
            part = self.read(size)
            if first & 15 == 8:
                raise Lost(struct.unpack(">H", part[:2])[0] if len(part) >= 2 else None)
            if first & 15 in (9, 10):
                continue
            data += part
            self.heard += part
            kind = kind or first & 15
            if first & 0x80:
                break
        if kind == 1:
            return json.loads(data)
        size = struct.unpack("<I", data[:4])[0]
        message = json.loads(data[4:4 + size])
        message["data"], message["size"] = data[4 + size:], len(data)
        return message

    def wait(self, kind, seconds=20 * SLOW, **wanted):
        """The next message of this type with these values; others are kept."""
        until = time.time() + seconds

        def fits(m):
            return m["type"] == kind and all(m.get(k) == v if not callable(v) else v(m.get(k)) for k, v in wanted.items())
        for i, m in enumerate(self.waiting):
            if fits(m):
                return self.waiting.pop(i)
        while time.time() < until:
            m = self.message()
            if fits(m):
                return m
            if m["type"] not in ("status", "stats"):
                self.waiting.append(m)
        raise AssertionError(f"no {kind} with {wanted}")

    def ask(self, frame, color="speed"):
        self.send({"want": "frame", "frame": frame, "color": color})
        return self.wait("frame", frame=frame)


def http(port, path="/", method="GET", host=None, **headers):
    """Status, headers and body; status 0: closed without a word."""
    with socket.create_connection(("127.0.0.1", port), timeout=10 * SLOW) as s:
        lines = [f"{method} {path} HTTP/1.1", f"Host: {host or f'127.0.0.1:{port}'}", "Connection: close"]
        lines += [f"{n.replace('_', '-')}: {v}" for n, v in headers.items()]
        s.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        data = b""
        try:
            while True:
                part = s.recv(65536)
                if not part:
                    break
                data += part
                head, _, body = data.partition(b"\r\n\r\n")
                size = re.search(rb"content-length: (\d+)", head, re.I)
                if size and len(body) >= int(size[1]):
                    break
        except ConnectionError:
            pass
    if not data:
        return 0, {}, b""
    head, _, body = data.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    return int(lines[0].split()[1]), dict(l.lower().split(": ", 1) for l in lines[1:] if ": " in l), body


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        back = os.getcwd()
        os.chdir(self.folder.name)
        self.addCleanup(os.chdir, back)
        self.servers = []
        self.addCleanup(self.end_all)

    def write(self, name, text):
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)

    def run_heap(self, **more):
        self.write("heap.lua", heap(**more))
        subprocess.run([REPOSE, "run", "heap.lua", "-o", "out", "--quiet"], check=True)
        return "out"

    def view(self, *words):
        """Starts the server; gives the port. self.address is what it printed."""
        self.said = open("said", "w+", encoding="utf-8")
        self.addCleanup(self.said.close)
        self.server = subprocess.Popen([REPOSE, "view", *words, *([] if "--port" in words else ["--port", "0"])],
                                       stdout=subprocess.PIPE, stderr=self.said, text=True)
        self.servers.append(self.server)
        self.address = self.server.stdout.readline().strip()
        self.assertRegex(self.address, r"^http://", self.stderr())
        return int(re.search(r":(\d+)/", self.address)[1])

    def stderr(self):
        self.said.flush()
        with open("said", encoding="utf-8", errors="replace") as file:
            return file.read()

    def end(self, status=0, server=None):
        server = server or self.server
        server.send_signal(signal.SIGINT)
        self.assertEqual(server.wait(timeout=30 * SLOW), status, self.stderr())
        server.stdout.close()
        self.assertNotIn("Sanitizer", self.stderr())

    def memory(self):
        with open(f"/proc/{self.server.pid}/status", encoding="ascii") as file:
            return int(re.search(r"VmRSS:\s+(\d+)", file.read())[1]) << 10

    def end_all(self):
        for server in self.servers:
            if server.poll() is None:
                server.kill()
                server.wait()
            server.stdout.close()

    def open(self, port, **more):
        s = Socket(port, **more)
        self.addCleanup(s.close)
        return s

    def page(self, port, **more):
        s = self.open(port, **more)
        self.assertEqual(s.status, 101)
        return s


class Serves(Case):
    def test_the_page_and_nothing_from_elsewhere(self):
        port = self.view(self.run_heap())
        status, headers, body = http(port)
        self.assertEqual(status, 200)
        self.assertIn("default-src 'none'", headers["content-security-policy"])
        self.assertEqual(headers["x-content-type-options"], "nosniff")
        self.assertNotIn("set-cookie", headers)
        names = re.findall(r'(?:src|href)="([^"]+)"', body.decode())
        self.assertIn("/page.js", names)
        texts = [body.decode()]
        for name in [*names, "/link.js", "/stage.js", "/plots.js"]:
            status, headers, body = http(port, name)
            self.assertEqual(status, 200, name)
            texts.append(body.decode())
        for text in texts:
            for address in re.findall(r"https?://[^\s\"'`]+", text):
                self.assertIn("w3.org", address, "a namespace is no download")
        self.end()

    def test_a_frame_holds_what_the_files_hold(self):
        port = self.view(self.run_heap())
        s = self.page(port)
        scene = s.wait("scene")
        self.assertEqual(scene["title"], "Small heap")
        self.assertEqual(scene["params"]["angle"]["value"], 35)
        listed = {c["name"]: (c["comps"], c["unit"]) for c in scene["columns"]}
        self.assertEqual((listed["stress"], listed["pressure"]), ((6, "Pa"), (1, "Pa")))
        self.assertEqual(scene["params"]["soil"], {"value": "dry", "default": "dry", "choices": ["dry", "damp"], "note": ""})
        self.assertEqual(len(scene["data"]), sum(24 * c["vertices"] + 12 * c["triangles"] for c in scene["colliders"]))
        status = s.wait("status")
        self.assertEqual((status["state"], status["last"], status["frames"]), ("finished", 3, 3))
        self.assertIn("kinetic_J", s.wait("stats")["text"])
        self.assertEqual(s.ask(1, "smooth_pressure")["colors"]["unit_name"], "Pa")
        frame = s.ask(2, "id")
        count = frame["count"]
        places = struct.unpack(f"<{3 * count}H", frame["data"][:6 * count])
        codes = struct.unpack(f"<{count}H", frame["data"][6 * count:8 * count])
        ids = [round(frame["colors"]["origin"][0] + frame["colors"]["unit"][0] * c) for c in codes]
        self.assertEqual(sorted(ids), list(range(count)))
        for row in (0, 7, count - 1):
            s.send({"want": "follow", "frame": 2, "color": "speed", "id": ids[row]})
            columns = {c["name"]: c["values"] for c in s.wait("particle")["columns"]}
            self.assertEqual(columns["id"], [ids[row]])
            stress, pressure = columns["stress"], columns["pressure"]
            self.assertEqual(len(stress), 6)
            self.assertAlmostEqual(pressure[0], -(stress[0] + stress[1]) / 2, delta=1e-9 + 1e-12 * abs(pressure[0]))
            for k in range(3):
                got = frame["places"]["origin"][k] + frame["places"]["unit"][k] * places[3 * row + k]
                self.assertAlmostEqual(got, columns["position"][k], delta=0.51 * frame["places"]["unit"][k])
            # a ray through it meets it, or one that is nearer
            x = columns["position"]
            s.send({"want": "pick", "frame": 2, "color": "speed", "from": [x[0], x[1], 1], "along": [0, 0, -1], "spread": 0,
                    "plane": [0, 0, 0, 0]})
            self.assertTrue(s.wait("particle")["columns"])
        s.send({"want": "pick", "frame": 2, "color": "speed", "from": [50, 50, 1], "along": [0, 0, -1], "spread": 0, "plane": [0, 0, 0, 0]})
        self.assertEqual(s.wait("particle")["columns"], [])
        s.send({"want": "frame", "frame": 2, "color": "nonsense"})
        self.assertIn("no quantity", s.wait("trouble")["sentence"])
        s.send({"want": "frame", "frame": 77, "color": "speed"})
        self.assertIn("not there", s.wait("trouble")["sentence"])
        self.end()

    def test_the_view_is_that_of_pictures(self):
        out = self.run_heap()
        s = self.page(self.view(out))
        views = {}
        for color in "grains", "speed", "height":
            s.send({"want": "view", "color": color})
            views[color] = s.wait("view")
        self.assertEqual(len({(*v["eye"], *v["look_at"], v["fov"], v["parallel"]) for v in views.values()}), 1)
        self.assertEqual(([v["range"] is None for v in views.values()], views["speed"]["last"]), ([True, False, False], 3))
        self.assertAlmostEqual(views["speed"]["aspect"], 1280 / 720)
        self.assertEqual(views["speed"]["range"][0], 0)
        s.send({"want": "view", "color": "nonsense"})
        self.assertIn("no quantity", s.wait("trouble", what="view")["sentence"])
        self.end()
        # told to take that view and that range, repose render makes the same picture, byte for byte
        speed = views["speed"]
        camera = "/".join(",".join(map(repr, speed[k])) for k in ("eye", "look_at"))
        given = ["--camera", camera, "--fov", repr(math.degrees(speed["fov"])), "--range", ",".join(map(repr, speed["range"]))]
        pictures = set()
        for more in [], given:
            subprocess.run([REPOSE, "render", out, "--color", "speed", "--no-legend", "--preview", "--size", "320x180", "-o", "view.png", *more],
                           check=True, stderr=subprocess.DEVNULL)
            with open("view.png", "rb") as file:
                pictures.add(file.read())
        self.assertEqual(len(pictures), 1)

    def test_which_way_is_up(self):
        self.run_heap(frames=1)
        s = self.page(self.view("out"))
        self.assertEqual(s.wait("scene")["up"], 1)
        self.end()
        path = "out/scene.resolved.json"
        with open(path, encoding="utf-8") as file:
            scene = json.load(file)
        scene["scene"]["up"] = "z"
        self.write(path, json.dumps(scene))
        s = self.page(self.view("out"))
        self.assertEqual(s.wait("scene")["up"], 2)
        self.end()

    def test_only_what_changed_is_sent(self):
        port = self.view(self.run_heap())
        s = self.page(port)
        first = s.ask(1, "speed")
        self.assertEqual((first["places"]["codes"], first["colors"]["codes"]), ("all", "all"))
        again = s.ask(1, "speed")
        self.assertEqual((again["places"]["codes"], again["colors"]["codes"], again["data"]), ("same", "same", b""))
        other = s.ask(1, "height")
        self.assertEqual((other["places"]["codes"], other["colors"]["codes"]), ("same", "all"))
        self.assertEqual(len(other["data"]), 2 * other["count"])
        # a connection that is new has nothing yet
        self.assertEqual(self.page(port).ask(1, "speed")["places"]["codes"], "all")
        self.end()

    def test_a_heap_at_rest_costs_nothing(self):
        # without gravity nothing moves; 4500 particles are three blocks
        self.write("rest.lua", 'scene { dimension = 2, dx = 0.02, frames = 2, gravity = {0, 0} }\n'
                               'particles { material = material.sand {}, shape = box { min = {0, 0}, max = {0.9, 0.5} } }')
        subprocess.run([REPOSE, "run", "rest.lua", "-o", "out", "--quiet"], check=True)
        s = self.page(self.view("out"))
        s.ask(0)
        frame = s.ask(1)
        self.assertEqual((frame["places"]["codes"], frame["places"]["blocks"], frame["data"]), ("blocks", [], b""))
        self.end()

    def test_a_folder_with_an_odd_name(self):
        # no UTF-8, which JSON cannot hold
        self.run_heap()
        os.rename(b"out", b"out \xff\"<b>")
        s = self.page(self.view(os.fsdecode(b"out \xff\"<b>")))
        self.assertEqual(s.wait("status")["folder"], 'out ?"<b>')
        s.ask(1)
        self.end()

    def test_links_do_not_lead_out(self):
        out = self.run_heap()
        os.rename(f"{out}/frames/frame.000002.hdf", "elsewhere.hdf")
        os.symlink(os.path.abspath("elsewhere.hdf"), f"{out}/frames/frame.000002.hdf")
        s = self.page(self.view(out))
        s.send({"want": "frame", "frame": 2, "color": "speed"})
        self.assertIn("link that leads out", s.wait("trouble")["sentence"])
        s.send({"want": "view", "color": "speed"})
        self.assertIn("link that leads out", s.wait("trouble", what="view")["sentence"])
        s.ask(1)
        self.end()

    def test_links_and_pipes_beside_the_frames_are_not_read(self):
        out = self.run_heap()
        with open("secret", "w", encoding="utf-8") as file:
            file.write("frame,time_s\nSECRET,1\n")
        for name in ("stats.csv", "run.log"):
            os.remove(f"{out}/{name}") if os.path.exists(f"{out}/{name}") else None
            os.symlink(os.path.abspath("secret"), f"{out}/{name}")
        os.remove(f"{out}/scene.resolved.json")
        os.mkfifo(f"{out}/scene.resolved.json")
        open(f"{out}/frames/frame.576460752303423487.hdf", "wb").close()
        port = self.view(out)
        s = self.page(port)
        s.wait("status")
        s.ask(1)  # whatever else there is to say has been said before
        self.assertIn(b"finished", s.heard)
        self.assertNotIn(b"SECRET", s.heard)
        self.end()

    def test_no_pipe_makes_it_wait(self):
        out = self.run_heap()
        os.remove(f"{out}/run.lock")
        os.mkfifo(f"{out}/run.lock")
        with open(f"{out}/shapes/shapes.json", encoding="utf-8") as file:
            shapes = file.read()
        self.write(f"{out}/shapes/shapes.json", re.sub(r'"file": *"[^"]*"', '"file": ".pipe"', shapes))
        os.mkfifo(f"{out}/shapes/.pipe")
        s = self.page(self.view(out))
        s.wait("status")
        s.ask(1)
        self.end()
        os.remove(f"{out}/run.json")
        os.mkfifo(f"{out}/run.json")
        done = subprocess.run([REPOSE, "view", out], capture_output=True, text=True, timeout=20 * SLOW)
        self.assertEqual(done.returncode, 4)
        self.assertIn("no ordinary file", done.stderr)


class Refuses(Case):
    def test_foreign_hosts_and_origins(self):
        port = self.view(self.run_heap())
        for host in ("evil.example", f"evil.example:{port}", "127.0.0.1:1", f"127.0.0.1.evil.example:{port}", "[::1"):
            self.assertIn(http(port, host=host)[0], (0, 400, 403), host)
            self.assertNotEqual(self.open(port, Host=host).status, 101)
        time.sleep(1.1)  # only a few lines a second are written
        for origin in ("http://evil.example", "null", None, f"https://127.0.0.1:{port}", f"http://127.0.0.1:{port + 1}",
                       "file://", f"http://localhost:{port}"):
            self.assertEqual(self.open(port, Origin=origin).status, 403, origin)
        self.assertNotEqual(self.open(port, path="/other").status, 101)
        self.assertNotEqual(self.open(port, Sec_WebSocket_Protocol="chat").status, 101)
        self.assertNotEqual(self.open(port, Sec_WebSocket_Protocol=None).status, 101)
        self.page(port).ask(0)
        self.assertEqual(http(port, host=f"localhost:{port}")[0], 200)
        for words in ("a foreign host", "a foreign origin"):
            self.assertIn(words, self.stderr())
        self.end()

    def test_paths_that_are_not_the_page(self):
        out = self.run_heap()
        port = self.view(out)
        page = http(port)[2]
        for path in ("/../../../../etc/passwd", "/..%2f..%2fetc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd",
                     "/etc/passwd", f"/{out}/run.json", "/run.json", "/frames/frame.000000.hdf", "/page.js%00.html",
                     "/.", "/./..", "/%c0%ae%c0%ae/", "/page.js/", "/socket", "http://127.0.0.1/etc/passwd", "/a" * 3000,
                     os.path.abspath("heap.lua")):
            status, _, body = http(port, path)
            self.assertTrue(status in (0, 400, 403, 404, 414) or body == page, f"{path[:80]}: {status}")
            self.assertNotIn(b"root:", body)
            self.assertNotIn(b"material.sand", body)
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "HEAD", "CONNECT", "BREW"):
            self.assertIn(http(port, "/", method)[0], (0, 400, 403, 404, 405), method)
        self.assertEqual(http(port)[0], 200)
        self.assertIn("an unknown path", self.stderr())
        self.end()

    def test_no_token_no_page(self):
        out = self.run_heap()
        for words in (("--listen", "127.0.0.1"), ("--token",)):
            port = self.view(out, *words)
            token = re.search(r"\?token=([0-9a-f]{32})$", self.address)[1]
            wrong = token[:-1] + ("0" if token[-1] != "0" else "1")
            for path in ("/", "/page.js", "/?token=", f"/?token={wrong}", f"/?token={token[:-1]}", f"/?token={token}0",
                         f"/?Token={token}", "/?token=../../"):
                self.assertEqual(http(port, path)[0], 403, path)
            self.assertEqual(http(port, Cookie=f"repose_{port}={wrong}")[0], 403)
            for more in ({}, {"Cookie": f"repose_{port}={wrong}"}, {"path": f"/socket?token={wrong}"}):
                self.assertEqual(self.open(port, **more).status, 403, more)
            status, headers, _ = http(port, f"/?token={token}")
            self.assertEqual(status, 200)
            cookie = headers["set-cookie"].split(";")[0]
            self.assertIn("httponly", headers["set-cookie"])
            self.assertEqual(http(port, "/page.js", Cookie=cookie)[0], 200)
            # other servers of this machine have left theirs
            self.assertEqual(http(port, "/page.js", Cookie=f"other={'x' * 6000}; {cookie}")[0], 200)
            path = f"/socket?token={token}"
            self.page(port, path=path).ask(0)
            # every port of this machine gets to see the cookie: it opens no socket, and holds no token
            self.assertEqual(self.open(port, Cookie=cookie).status, 403)
            self.assertNotIn(token, cookie)
            self.assertEqual(self.open(port, path=f"/socket?token={cookie.split('=')[1]}").status, 403)
            # a token does not excuse a foreign page
            self.assertEqual(self.open(port, path=path, Origin="http://evil.example").status, 403)
            self.end()

    def test_others_reach_it_only_when_told_so(self):
        port = self.view(self.run_heap())
        with open(f"/proc/{self.server.pid}/net/tcp", encoding="ascii") as table:
            listening = [l.split()[1] for l in table if l.split()[3] == "0A" and l.split()[1].endswith(f":{port:04X}")]
        self.assertEqual(listening, [f"0100007F:{port:04X}"])
        self.end()

    def lost(self, port, *acts):
        """A page that does this is hung up on, and others are not. Gives the code."""
        s = self.page(port)
        s.wait("status")
        try:
            for act in acts:
                act(s)
            while True:
                s.message()
        except Lost as lost:
            return lost.code
        except OSError as error:  # reset, or gone before an act was done
            self.assertNotIsInstance(error, TimeoutError, "still connected")
            return None
        finally:
            with contextlib.suppress(OSError):
                s.raw.shutdown(socket.SHUT_RDWR)

    def test_messages_that_are_none(self):
        port = self.view(self.run_heap())
        big = "x" * 20000
        self.assertEqual(self.lost(port, lambda s: s.send(big)), 1009)
        self.assertEqual(self.lost(port, lambda s: s.frame(1, b"{", last=False), lambda s: s.frame(0, b" " * 17000)), 1009)
        # the reason may be lost when there is more to read
        self.assertIn(self.lost(port, *[lambda s: s.frame(1, b" " * 900, last=False)],
                                *[lambda s: s.frame(0, b" " * 900, last=False)] * 30), (1009, None))
        for text in ("", "{", "[]", "null", '{"want":"fly"}', '{"want":"frame","frame":-1,"color":"speed"}',
                     '{"want":"frame","frame":1,"color":"../x"}', "[" * 9000, '{"want":"stop","x":1}'):
            self.assertEqual(self.lost(port, lambda s: s.send(text)), 1008, text[:40])
        self.assertIn(self.lost(port, lambda s: s.frame(2, b"\0\1\2")), (1003,))
        self.assertIn(self.lost(port, lambda s: s.frame(1, b"\xff\xfe")), (1007, 1008, None))
        for act in (lambda s: s.frame(1, b"x", length=1 << 62),           # more than there is memory
                    lambda s: s.frame(1, b"x", length=1 << 40),
                    lambda s: s.frame(3, b"reserved"), lambda s: s.frame(11, b""),
                    lambda s: s.frame(9, b"p" * 300),                     # a ping that is too long
                    lambda s: s.frame(9, b"", last=False),                # a ping in parts
                    lambda s: s.frame(0, b"goes on with nothing"),
                    lambda s: s.raw.sendall(b"GET / HTTP/1.1\r\n\r\n")):
            self.lost(port, act)  # it is the server who hangs up
        # noise may look like the beginning of a good message
        self.lost(port, lambda s: s.raw.sendall(os.urandom(5000)), lambda s: s.raw.shutdown(socket.SHUT_WR))
        # in parts, and with a ping in between, a good one is understood
        s = self.page(port)
        text = json.dumps({"want": "frame", "frame": 1, "color": "speed"}).encode()
        s.frame(1, text[:5], last=False)
        s.frame(0, text[5:9], last=False)
        s.frame(9, b"ping")
        s.frame(0, text[9:])
        s.wait("frame", frame=1)
        self.assertIn("refused a message", self.stderr())
        self.end()

    def test_frames_that_no_browser_sends(self):
        port = self.view(self.run_heap())
        ask = json.dumps({"want": "frame", "frame": 1, "color": "speed"}).encode()
        mask = b"\1\2\3\4"

        def raw(*head, body=b""):
            return lambda s: s.raw.sendall(bytes(head) + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(body)))
        for what, *acts in (("not masked", lambda s: s.frame(1, ask, masked=False)),
                            ("the second part not masked", lambda s: s.frame(1, ask[:9], last=False), lambda s: s.frame(0, ask[9:], masked=False)),
                            ("a ping that is not masked", lambda s: s.frame(9, b"x", masked=False)),
                            ("a farewell that is not masked", lambda s: s.frame(8, b"\x03\xe8", masked=False)),
                            ("a length in 2 bytes", raw(0x81, 0xfe, 0, len(ask), body=ask)),
                            ("a length in 8 bytes", raw(0x81, 0xff, 0, 0, 0, 0, 0, 0, 0, len(ask), body=ask)),
                            ("a reserved bit", raw(0xc1, 0x80 | len(ask), body=ask)),
                            ("a new message within one", lambda s: s.frame(1, ask[:9], last=False), lambda s: s.frame(1, ask)),
                            ("half a code in the farewell", lambda s: s.frame(8, b"x"))):
            with self.subTest(what):
                self.assertEqual(self.lost(port, *acts), 1002)
        # one that is masked well is answered, and so is it in single bytes; a ping hears its own words, a farewell another
        s = self.page(port)
        raw(0x81, 0x80 | len(ask), body=ask)(s)
        s.wait("frame", frame=1)
        for byte in bytes([0x81, 0x80 | len(ask)]) + bytes(4) + ask:
            s.raw.sendall(bytes([byte]))
        s.wait("frame", frame=1)
        s.frame(9, b"are you there?")
        while True:
            head = s.read(2)
            data = s.read({126: lambda: struct.unpack(">H", s.read(2))[0]}.get(head[1], lambda: head[1])())
            if head[0] & 15 == 10:
                break
        self.assertEqual((head[0], data), (0x8a, b"are you there?"))
        s.frame(8, b"\x03\xe9bye")
        with self.assertRaises(Lost) as lost:
            while True:
                s.message()
        self.assertEqual(lost.exception.code, 1000)
        self.assertEqual(s.raw.recv(1), b"")
        # with the request, before the answer has come
        host = f"127.0.0.1:{port}"
        head = (f"GET /socket HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nUpgrade: WebSocket\r\nConnection: keep-alive, Upgrade\r\n"
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: chat, repose-view\r\n\r\n").encode()
        for masked, found in ((0x80, b'"frame"'), (0, b"\x88")):
            with socket.create_connection(("127.0.0.1", port), timeout=10 * SLOW) as raw_socket:
                raw_socket.sendall(head + bytes([0x81, masked | len(ask)]) + bytes(4 if masked else 0) + ask)
                said = b""
                while b"\r\n\r\n" not in said or found not in said.split(b"\r\n\r\n", 1)[1]:
                    part = raw_socket.recv(65536)
                    self.assertTrue(part, said)
                    said += part
                self.assertIn(b"sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n", said)
        self.end()

    def test_requests_that_are_none(self):
        port = self.view(self.run_heap())
        host = f"Host: 127.0.0.1:{port}\r\n"

        def asked(text):
            with socket.create_connection(("127.0.0.1", port), timeout=10 * SLOW) as s:
                s.sendall(text.encode("latin-1"))
                data = b""
                with contextlib.suppress(ConnectionError):
                    while part := s.recv(65536):
                        data += part
                return data.split(b"\r\n")[0]
        for text in (f"GET / HTTP/1.1\r\n{host}{host}\r\n", f"GET  / HTTP/1.1\r\n{host}\r\n", f"GET / HTTP/2.0\r\n{host}\r\n",
                     f"GET /\r\n{host}\r\n", f"GET / HTTP/1.1\r\n{host} folded: 1\r\n\r\n", f"GET / HTTP/1.1\r\n{host}no colon\r\n\r\n",
                     f"GET / HTTP/1.1\r\n{host}a\0b: 1\r\n\r\n", f"GET / HTTP/1.1\r\n{host}a: \n: 1\r\n\r\n", f"GET /\x1b[2J HTTP/1.1\r\n{host}\r\n",
                     f"GET / HTTP/1.1\r\n{host}: 1\r\n\r\n", "GET\r\n\r\n"):
            self.assertEqual(asked(text), b"HTTP/1.1 400 Bad Request", repr(text))
        self.assertEqual(asked("GET / HTTP/1.1\r\n\r\n"), b"HTTP/1.1 403 Forbidden")
        self.assertEqual(asked(f"GET / HTTP/1.1\r\n{host}a: {'x' * 20000}"), b"HTTP/1.1 431 Request Header Fields Too Large")
        self.assertEqual(asked("\x16\x03\x01\x02\0"), b"")
        with socket.create_connection(("127.0.0.1", port), timeout=10 * SLOW) as s:
            for c in f"GET /page.js?a=b HTTP/1.0\r\n{host}accept: \xff\r\n\r\n".encode("latin-1"):
                s.sendall(bytes([c]))
            self.assertIn(b"HTTP/1.1 200 OK", s.recv(4096))
        # who never comes to an end is not waited for
        with socket.create_connection(("127.0.0.1", port), timeout=10 * SLOW) as s:
            s.sendall(b"GET / HTTP/1.1\r\n")
            self.assertEqual(s.recv(1), b"")
        self.end()

    def test_many_requests_at_once_are_all_answered(self):
        s = self.page(self.view(self.run_heap()))
        for i in range(300):
            s.send({"want": "frame", "frame": i % 4, "color": "speed"})
        for i in range(300):
            self.assertEqual(s.wait("frame")["frame"], i % 4)
        self.end()

    def test_a_flood_of_requests_is_bounded(self):
        port = self.view(self.run_heap())
        other, s = self.page(port), self.page(port)
        for i in range(4):
            other.ask(i)
        before = self.memory()
        s.raw.setblocking(False)
        sent = 0
        with contextlib.suppress(ConnectionError, BlockingIOError):
            while sent < 200000:
                s.send({"want": "frame", "frame": sent % 4, "color": "speed"})
                sent += 1
        other.ask(0)
        # answers to all of them would take hundreds of megabytes
        self.assertLess(sent, 200000)
        self.assertLess(self.memory() - before, (10 if SLOW == 1.0 else 100) << 20)
        self.end()

    def test_thousands_of_connections(self):
        self.write("heap.lua", heap(400))
        port = self.view("heap.lua")
        watcher = self.page(port)
        watcher.wait("status", state="running")

        def files():
            return len(os.listdir(f"/proc/{self.server.pid}/fd"))
        before = files()
        kinds = [b"", b"GET / HTTP/1.1\r\nHost:", b"\x16\x03\x01\x02\x00\x01", b"GET /socket HTTP/1.1\r\nUpgrade: websocket\r\n"]
        for i in range(3000):
            try:
                s = socket.create_connection(("127.0.0.1", port), timeout=5)
                s.sendall(kinds[i % 4])
                if i % 3 == 0:  # without a good-bye
                    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                s.close()
            except OSError:
                time.sleep(0.01)
        for i in range(200):
            s = Socket(port)
            s.raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            s.close()
        # many at a time that say nothing
        idle = []
        for i in range(400):
            try:
                idle.append(socket.create_connection(("127.0.0.1", port), timeout=1))
            except OSError:
                break
        for s in idle:
            s.close()
        until = time.time() + 20 * SLOW
        while files() > before + 3 and time.time() < until:
            time.sleep(0.1)
        self.assertLessEqual(files(), before + 3)
        self.assertEqual(http(port)[0], 200)
        self.page(port).ask(0)
        last = watcher.wait("status", last=lambda n: n >= 2)["last"]
        self.assertGreaterEqual(last, 2)
        self.end()

    def test_half_open_connections_keep_nobody_out(self):
        port = self.view(self.run_heap())
        watcher = self.page(port)
        for begin in (b"", b"GET / HTTP/1.1\r\nHost: 127.0"):  # those that never go on, and those that go on byte by byte
            held = []
            for _ in range(400):
                with contextlib.suppress(OSError):
                    held.append(socket.create_connection(("127.0.0.1", port), timeout=1))
                    held[-1].sendall(begin)
            watcher.ask(1)  # who is in stays in
            until, status = time.time() + 20 * SLOW, 0
            while status != 200 and time.time() < until:
                for s in held if begin else []:
                    with contextlib.suppress(OSError):
                        s.sendall(b".")
                with contextlib.suppress(OSError):
                    status = http(port)[0]
                time.sleep(0.2)
            for s in held:
                s.close()
            self.assertEqual(status, 200)
        self.end()

    def test_who_takes_no_answer_keeps_nobody_out(self):
        port = self.view(self.run_heap())
        watcher = self.page(port)
        whole = f"GET /page.js HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
        for room in (1 << 20, 1024):  # in the second round answers do not even fit into their sockets
            held = []
            for _ in range(300):
                s = socket.socket()
                s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
                s.settimeout(1)
                held.append(s)
                with contextlib.suppress(OSError):
                    s.connect(("127.0.0.1", port))
                    s.sendall(whole)
            self.assertEqual(http(port)[0], 200)
            watcher.ask(1)
            self.assertEqual(self.open(port).status, 101)
            for s in held:
                s.close()
        self.end()

    def test_only_so_many_pages(self):
        port = self.view(self.run_heap())
        pages = [self.page(port) for _ in range(16)]
        self.assertEqual(self.open(port).status, 503)
        pages[3].close()
        for _ in range(50):
            if self.open(port).status == 101:
                break
            time.sleep(0.1)
        else:
            self.fail("the place that became free was not given away")
        self.end()


class Crowd(Case):
    """Strangers and pages at random, several at a time, each wrong in a way of its own."""

    SECONDS = 20.0 if os.environ.get("REPOSE_LONG_TESTS") else 2.0

    def requests(self, rng, host):
        """Bytes of one visit, in the pieces in which they are sent."""
        whole = (f"GET /socket HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                 "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: repose-view\r\n\r\n")
        file = f"GET /page.js HTTP/1.1\r\nHost: {host}\r\n\r\n"
        kind = rng.randrange(6)
        if kind == 0:  # nothing, or a beginning
            return [whole[:rng.randrange(len(whole))].encode()]
        if kind == 1:
            return [rng.randbytes(rng.randrange(1, 3000))]
        if kind == 2:  # without end
            return [file[:-2].encode() + b"x: " + b"y" * rng.randrange(100000)]
        if kind == 3:  # one behind the other
            return [file.encode() * rng.randrange(2, 30) + rng.randbytes(rng.randrange(500))]
        data = bytearray(whole.encode())
        for _ in range(rng.randrange(4) if kind == 4 else 0):
            at = rng.randrange(len(data))
            data[at:at + rng.randrange(3)] = rng.randbytes(rng.randrange(3))
        return [bytes(data), *(self.frame(rng) for _ in range(rng.randrange(40)))]

    def frame(self, rng):
        ask = json.dumps(rng.choice([{"want": "frame", "frame": rng.randrange(9), "color": "speed"}, {"want": "view", "color": "grains"},
                                     {"want": "pick", "frame": 0}, {"want": "order", "order": "fly"}])).encode()
        kind, size, mask = rng.randrange(6), len(ask), rng.randbytes(4)
        body = bytes(b ^ mask[i % 4] for i, b in enumerate(ask))
        return (bytes([0x81, 0x80 | size]) + mask + body, bytes([0x81, size]) + ask, bytes([0x89, 0xfd]) + mask + rng.randbytes(125),
                bytes([rng.randrange(256), 0x80 | rng.randrange(126)]) + rng.randbytes(rng.randrange(130)), rng.randbytes(rng.randrange(1, 50)),
                bytes([0x81, 0xff]) + struct.pack(">Q", rng.choice([2**63, 2**62, 65536])) + mask + body)[kind]

    def visit(self, rng, port):
        with socket.create_connection(("127.0.0.1", port), timeout=5 * SLOW) as s:
            for piece in self.requests(rng, f"127.0.0.1:{port}"):
                s.sendall(piece)
            if rng.random() < 0.3:  # gone without a good-bye
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            else:
                s.settimeout(0.05)
                while s.recv(65536):
                    pass

    def test_strangers(self):
        self.write("heap.lua", heap(2000))
        port, seed = self.view("heap.lua"), time.time_ns()
        watcher, visits, until = self.page(port), [0] * 6, time.time() + self.SECONDS
        watcher.wait("status", state="running")

        def crowd(number):
            rng = random.Random(seed + number)
            while time.time() < until:
                with contextlib.suppress(OSError):
                    self.visit(rng, port)
                visits[number] += 1
        threads = [threading.Thread(target=crowd, args=(number,)) for number in range(len(visits))]
        for thread in threads:
            thread.start()
        while time.time() < until:
            self.assertEqual(http(port)[0], 200, f"seed {seed}")
            watcher.ask(0)
            time.sleep(0.2)
        for thread in threads:
            thread.join()
        end = time.time() + 20 * SLOW
        while len(os.listdir(f"/proc/{self.server.pid}/fd")) > 12 and time.time() < end:
            time.sleep(0.1)
        self.assertLessEqual(len(os.listdir(f"/proc/{self.server.pid}/fd")), 12, f"seed {seed}")
        self.assertLess(self.memory(), (60 if SLOW == 1.0 else 400) << 20)
        self.page(port).ask(0)
        print(f"\n{sum(visits)} visits of strangers, and the run and its page went on")
        self.end()


class Runs(Case):
    def start(self, frames=300, more="", words=()):
        self.write("heap.lua", heap(frames, more))
        port = self.view("heap.lua", "--threads", "1", *words)
        return port, self.page(port)

    def test_a_run_is_paused_resumed_stopped_and_goes_on(self):
        _, s = self.start(600)
        s.wait("status", last=lambda n: n >= 2, state="running")
        s.send({"want": "pause"})
        s.wait("status", state="paused")
        time.sleep(0.5)
        still = len(os.listdir("heap-out/frames"))
        time.sleep(1.0)
        self.assertEqual(len(os.listdir("heap-out/frames")), still)
        s.send({"want": "resume"})
        s.wait("status", state="running")
        at = s.wait("status", last=lambda n: n > still)
        self.assertEqual(at["frames"], 600)
        s.send({"want": "stop"})
        stopped = s.wait("status", state="interrupted")
        self.assertTrue(stopped["can"]["go_on"])
        self.assertFalse(stopped["can"]["pause"])
        s.send({"want": "resume"})
        s.wait("status", state="running")
        s.wait("status", state="finished", seconds=60 * SLOW)
        self.assertEqual(len(os.listdir("heap-out/frames")), 602)
        self.end()

    def test_ctrl_c_stops_and_saves(self):
        _, s = self.start(5000)
        s.wait("status", last=lambda n: n >= 2, state="running")
        self.end()
        with open("heap-out/run.json", encoding="utf-8") as file:
            self.assertEqual(json.load(file)["status"], "interrupted")

    def test_a_run_is_started_again_with_other_params(self):
        port, s = self.start(3)
        s.wait("status", state="finished")
        s.send({"want": "start", "set": {"angle": "20"}, "keep": True})
        s.wait("status", folder="heap-out-2", state="finished")
        self.assertEqual(s.wait("scene", folder="heap-out-2")["params"]["angle"]["value"], 20)
        self.assertTrue(os.path.exists("heap-out/run.json"))
        s.send({"want": "start", "set": {"angle": "25", "soil": "damp"}, "keep": False})
        s.wait("scene", folder="heap-out-2", params=lambda p: p["angle"]["value"] == 25 and p["soil"]["value"] == "damp")
        s.wait("status", state="finished")
        self.assertFalse(os.path.exists("heap-out-3"))
        # one that cannot be
        s.send({"want": "start", "set": {"angle": "steep"}, "keep": True})
        self.assertIn("angle", s.wait("trouble", what="order")["sentence"])
        s.send({"want": "start", "set": {}, "keep": True})
        s.wait("status", state="finished", folder="heap-out-3")
        self.end()

    def test_a_run_that_was_moved_is_started_again_from_its_own_copy_of_the_scene(self):
        self.run_heap(frames=1)
        os.remove("heap.lua")
        os.rename("out", "moved")
        s = self.page(self.view("moved"))
        self.assertTrue(s.wait("status")["can"]["start"])
        s.send({"want": "start", "set": {"angle": "20"}, "keep": True})
        s.wait("status", folder="moved-2", state="finished")
        self.end()

    def test_a_start_that_comes_to_nothing_leaves_the_run_that_was_shown(self):
        self.write("heap.lua", heap(20000).replace("dx = 0.02", 'dx = param("dx", 0.02)'))
        s = self.page(self.view("heap.lua", "--threads", "1"))
        s.wait("status", state="running", last=lambda n: n >= 1)
        # what the scene itself refuses does not even stop it
        s.send({"want": "start", "set": {"dx": "small"}, "keep": True})
        self.assertIn("dx", s.wait("trouble", what="order")["sentence"])
        s.wait("status", state="running", last=lambda n: n >= 2)
        # more particles than there is memory for: known when it is tried
        s.send({"want": "start", "set": {"dx": "1e-7"}, "keep": True})
        status = s.wait("status", notice=lambda text: "could not be started again" in text)
        self.assertEqual((status["state"], status["folder"]), ("interrupted", "heap-out"))
        self.assertIn("GB", status["notice"])
        self.assertTrue(status["can"]["go_on"])
        s.send({"want": "resume"})
        self.assertEqual(s.wait("status", state="running")["notice"], "")
        self.end()
        self.assertIn("saved in heap-out", self.stderr())

    def test_a_run_that_fails_while_it_is_watched(self):
        gravity = ", gravity = function(t) return 0, t < 0.1 and -9.81 or -1e30 end"
        _, s = self.start(50, gravity)
        failed = s.wait("status", state="failed")
        self.assertIn("particle", failed["sentence"])
        self.assertGreaterEqual(failed["last"], 1)
        s.ask(1)
        self.end(status=3)
        # and the next day
        s = self.page(self.view("heap-out"))
        self.assertIn("particle", s.wait("status", state="failed")["sentence"])
        self.end()

    def test_the_process_of_a_run_is_killed(self):
        _, s = self.start(5000)
        s.wait("status", last=lambda n: n >= 1, state="running")
        with open("heap-out/run.lock", encoding="ascii") as file:
            os.kill(int(file.read()), signal.SIGKILL)
        self.assertIn("signal 9", s.wait("status", state="failed")["sentence"])
        self.end(status=128 + 9)

    def test_a_killed_server_does_not_take_the_run_along(self):
        port, s = self.start(300)
        s.send({"want": "pause"})
        s.wait("status", state="paused")
        self.server.kill()
        self.server.wait()
        # whoever could say "resume" is gone, so it goes on; the port is free, and another may watch
        s = self.page(self.view("heap-out", "--port", str(port)))
        s.wait("status", state="running")
        s.wait("status", state="finished", seconds=60 * SLOW)
        self.end()

    def test_a_run_of_somebody_else_can_only_be_watched(self):
        self.write("heap.lua", heap(5000))
        run = subprocess.Popen([REPOSE, "run", "heap.lua", "-o", "out", "--quiet", "--threads", "1"])
        self.addCleanup(run.wait)
        self.addCleanup(run.kill)
        while not os.path.exists("out/frames/frame.000001.hdf"):
            time.sleep(0.05)
        s = self.page(self.view("out"))
        status = s.wait("status", state="running")
        self.assertFalse(status["can"]["pause"])
        s.send({"want": "stop"})
        self.assertIn("only be watched", s.wait("trouble")["sentence"])
        run.kill()
        self.assertIn("without a word", s.wait("status", state="interrupted")["sentence"])
        self.end()

    def test_a_client_that_does_not_read_slows_nothing(self):
        port, s = self.start(5000)
        s.wait("status", last=lambda n: n >= 1, state="running")
        stalled = self.page(port)
        stalled.raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        stalled.raw.setblocking(False)
        sent = 0
        with contextlib.suppress(BlockingIOError):
            while sent < 200000:
                stalled.send({"want": "frame", "frame": sent % 2, "color": "speed"})
                sent += 1
        self.assertLess(sent, 200000)  # all that lies between the two is full, in both directions
        first = s.wait("status", state="running")["last"]
        for i in range(20):
            s.ask(i % 2, "height")
        s.wait("status", last=lambda n: n > first + 5)
        self.end()


class Ends(Case):
    def refused(self, *words, status, **said):
        done = subprocess.run([REPOSE, "view", *words], capture_output=True, text=True, timeout=30 * SLOW)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertIn(said["said"], done.stderr)

    def test_what_cannot_be_shown(self):
        out = self.run_heap()
        port = self.view(out)
        self.refused(out, "--port", str(port), status=4, said="is in use")
        os.mkdir("empty")
        self.refused("empty", status=4, said="no run folder")
        self.refused("nowhere", status=4, said="nowhere")
        self.refused("/nowhere/at/all", status=4, said="nowhere")
        self.refused("heap.lua", "-o", out, status=4, said="holds a run already")
        self.refused("heap.lua", "--set", "slope=3", status=2, said="slope")
        self.refused(out, "--overwrite", status=2, said="for a scene")
        self.refused(out, "--port", "70000", status=2, said="--port")
        self.refused(out, "--listen", "everywhere", status=2, said="IP address")
        self.refused(out, "--listen", "192.0.2.1", status=4, said="cannot listen")
        self.write("bad.lua", "scene { dx = ")
        self.refused("bad.lua", status=2, said="bad.lua")
        self.end()

    def test_a_folder_that_vanishes(self):
        out = self.run_heap()
        s = self.page(self.view(out))
        s.wait("status", state="finished")
        os.rename(out, "away")
        self.assertIn("not there any more", s.wait("status", state="vanished")["sentence"])
        os.rename("away", out)
        s.wait("status", state="finished")
        s.ask(1)
        os.rename(out, "away")
        s.wait("status", state="vanished")
        self.end(status=4)


if __name__ == "__main__":
    unittest.main(verbosity=2)
