#!/usr/bin/env python3
"""Does a page slow a run? The same scene with no page, with one that shows every frame, and with one that has asked for
frames and reads nothing.

    bench/view.py REPOSE [--pairs N] [--scene SCENE]

Prints what each took by the clock, from run.json, and in processor time, and the ratios. Machines are shared: turns are
taken, and of each kind the least and the median are shown.
"""

import argparse
import json
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "tools"))

SCENE = """
scene { title = "A heap", dx = 0.02, fps = 48, frames = 40 }
particles { material = material.sand {}, shape = box { min = {-0.2, 0, -0.2}, max = {0.2, 0.4, 0.2} } }
collider { shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} } }
"""


def watch(page, stop):
    """Asks for each frame as soon as the one before is here."""
    frame = 0
    try:
        while not stop.is_set():
            page.send({"want": "frame", "frame": frame, "color": "speed"})
            while True:
                m = page.message()
                if m["type"] == "frame":
                    frame += 1
                    break
                if m["type"] == "trouble":
                    time.sleep(0.05)
                    break
    except (OSError, page.Lost):
        pass


def one(repose, scene, kind, sockets):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out")
        server = subprocess.Popen([repose, "view", scene, "-o", out, "--threads", "1", "--port", "0"],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        port = int(re.search(r":(\d+)/", server.stdout.readline())[1])
        stop, page, thread = threading.Event(), None, None
        if kind != "none":
            page = sockets.Socket(port, timeout=60)
            page.Lost = sockets.Lost
        if kind == "shown":
            thread = threading.Thread(target=watch, args=(page, stop))
            thread.start()
        elif kind == "stalled":
            page.raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        record, processor, asked = {}, 0.0, False
        while record.get("status") not in ("finished", "failed"):
            try:
                if kind == "stalled" and not asked and os.path.exists(f"{out}/frames/frame.000003.hdf"):
                    for frame in range(4):  # as many as it may have open; no answer is ever read
                        page.send({"want": "frame", "frame": frame, "color": "speed"})
                    asked = True
                with open(f"{out}/run.lock", encoding="ascii") as file:
                    with open(f"/proc/{int(file.read())}/stat", encoding="ascii") as stat:
                        ticks = stat.read().rsplit(")", 1)[1].split()
                processor = (int(ticks[11]) + int(ticks[12])) / os.sysconf("SC_CLK_TCK")
            except (OSError, ValueError, IndexError):
                pass
            try:
                with open(f"{out}/run.json", encoding="utf-8") as file:
                    record = json.load(file)
            except (OSError, ValueError):
                pass
            time.sleep(0.02)
        stop.set()
        server.send_signal(signal.SIGINT)
        server.wait()
        server.stdout.close()
        if page is not None:
            page.close()
        if thread is not None:
            thread.join()
        return record["seconds"], processor


def main():
    parser = argparse.ArgumentParser(description="Does a page slow a run?")
    parser.add_argument("repose")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--scene")
    options = parser.parse_args()
    sys.argv = sys.argv[:1]
    import test_view as sockets
    repose = os.path.abspath(options.repose)
    with tempfile.TemporaryDirectory() as folder:
        scene = options.scene or os.path.join(folder, "heap.lua")
        if not options.scene:
            with open(scene, "w", encoding="utf-8") as file:
                file.write(SCENE)
        took = {"none": [], "stalled": [], "shown": []}
        for _ in range(options.pairs):
            for kind, list_ in took.items():
                list_.append(one(repose, scene, kind, sockets))
    for kind, list_ in took.items():
        clock, processor = zip(*list_)
        print(f"{kind:8}  clock {min(clock):.2f} s at least, {statistics.median(clock):.2f} s median;  "
              f"processor {min(processor):.2f} s, {statistics.median(processor):.2f} s")
    for kind in ("stalled", "shown"):
        clock = [a[0] / b[0] for a, b in zip(took[kind], took["none"])]
        processor = [a[1] / b[1] for a, b in zip(took[kind], took["none"])]
        print(f"{kind} / none: clock {min(t[0] for t in took[kind]) / min(t[0] for t in took['none']):.3f} of the least, "
              f"{statistics.median(clock):.3f} median; processor {statistics.median(processor):.3f} median")
    return 0


if __name__ == "__main__":
    sys.exit(main())
