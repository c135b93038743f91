#!/usr/bin/env python3
"""Memory that runs out and disks that fail, call by call.

    test_faults.py PROGRAM FAILING_CALLS [--sample N] [--command NAME] [--kind NAME] [--seed N]

FAILING_CALLS is the library of failing_calls.c. A command is run once to see which calls it makes for memory and to the
disk, and from where; then again for each place in the program that such a call comes from (or for N of them per command and
kind), and the call fails: alone, or with all that follow. The command must end in 0, 2, 3 or 4, with a sentence unless in 0,
and in 0 only with the same bytes as otherwise. What was a run then goes on to the same bits.
"""

import argparse
import collections
import concurrent.futures
import csv
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

KINDS = ("memory", "open", "read", "write", "sync", "rename")
LIMIT = 60.0  # s: who takes longer hangs

# 64 particles, a mesh that is read, a collider that moves, a probe
SCENE = """
scene { title = "Small", dx = 0.04, fps = 48, frames = 2 }
particles { material = material.sand {}, shape = box { min = {0, 0, 0}, max = {0.08, 0.08, 0.08} }, sampling = "lattice" }
collider { name = "floor", shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} } }
collider { name = "rock", shape = mesh { file = "rock.obj", resolution = 0.04 }, motion = function(t) return { position = {-t, 0, 0} } end }
probe { name = "middle", point = {0.04, 0.04, 0.04} }
"""
ROCK = ("v .2 0 -.1\nv .4 0 -.1\nv .2 .2 -.1\nv .2 0 .1\nv .4 0 .1\nv .2 .2 .1\n"
        "f 1 3 2\nf 4 5 6\nf 1 2 5\nf 1 5 4\nf 2 3 6\nf 2 6 5\nf 3 1 4\nf 3 4 6\n")
LESS = ("--threads", "1")  # so that calls come in the same order each time
SMALL = ("--size", "24x16", *LESS)

# name, words, and where what it makes is; {} is the folder of the try, which holds a run in "done" and half of one in "half"
COMMANDS = {
    "check": (["check", "scene.lua", *LESS], None),
    "run": (["run", "scene.lua", "-o", "{}/out", *LESS], "out"),
    "overwrite": (["run", "scene.lua", "-o", "{}/half", "--overwrite", *LESS], "half"),
    "resume": (["run", "--resume", "-o", "{}/half", "--frames", "2", *LESS], "half"),
    "info": (["info", "{}/done"], None),
    "measure": (["measure", "{}/done", "runout", "--all", "--csv"], None),
    "render": (["render", "{}/done", "--samples", "1", "-o", "{}/picture.png", *SMALL], "picture.png"),
    "preview": (["render", "{}/done", "--preview", "-o", "{}/picture.png", *SMALL], "picture.png"),
    "vtp": (["export", "{}/done", "--to", "vtp", "-o", "{}/files"], "files"),
    "ply": (["export", "{}/done", "--to", "ply", "-o", "{}/files"], "files"),
    "usda": (["export", "{}/done", "--to", "usda", "-o", "{}/files"], "files"),
    "csv": (["export", "{}/done", "--to", "csv", "-o", "{}/files"], "files"),
}


def read(path):
    with open(path, "rb") as file:
        return file.read()


def stats(path):
    """stats.csv without the clock on the wall."""
    with open(path, encoding="utf-8") as file:
        wall = ("sort_s", "p2g_s", "grid_s", "g2p_s", "write_s", "hold_s")
        return [{k: v for k, v in row.items() if k not in wall} for row in csv.DictReader(file)]


def contents(path):
    """All that must be the same each time, of a file or a folder."""
    if path is None:
        return None
    if os.path.isfile(path):
        return read(path)
    found = {}
    for at, _, names in os.walk(path):
        for name in names:
            if name in ("run.json", "run.log", "run.lock"):  # times, processes, warnings that found no memory
                continue
            whole = os.path.join(at, name)
            found[os.path.relpath(whole, path)] = stats(whole) if name == "stats.csv" else read(whole)
    return found


class Sweep:
    def __init__(self, program, library):
        self.program, self.library = program, library
        self.ended = collections.Counter()
        self.last_words = self.waiting = 0
        self.wrong = []
        with open("scene.lua", "w", encoding="utf-8") as file:
            file.write(SCENE)
        with open("rock.obj", "w", encoding="utf-8") as file:
            file.write(ROCK)
        os.mkdir("runs")
        self.plain("run", "scene.lua", "-o", "runs/done", *LESS)
        self.plain("run", "scene.lua", "-o", "runs/half", "--frames", "1", *LESS)

    def plain(self, *words):
        done = subprocess.run([self.program, *words], capture_output=True, text=True, errors="replace", timeout=LIMIT)
        if done.returncode != 0:
            raise SystemExit(f"repose {' '.join(words)} ended with {done.returncode}: {done.stderr}")
        return done.stdout

    def call(self, words, folder, **orders):
        words = [word.replace("{}", folder) for word in words]
        began = time.monotonic()
        try:
            done = subprocess.run([self.program, *words], capture_output=True, text=True, errors="replace", timeout=LIMIT,
                                  env={**os.environ, "LD_PRELOAD": self.library, **orders})
        except subprocess.TimeoutExpired as late:
            return "no end", "", str(late.stderr), time.monotonic() - began
        return done.returncode, done.stdout, done.stderr, time.monotonic() - began

    def try_folder(self):
        folder = tempfile.mkdtemp(dir=".")
        shutil.copytree("runs", folder, dirs_exist_ok=True)
        return folder

    def learn(self, name):
        """What the command gives, and the numbers of the first calls from each place."""
        words, product = COMMANDS[name]
        folder = self.try_folder()
        status, out, said, _ = self.call(words, folder, COUNT_CALLS=f"{folder}/counts")
        if status != 0:
            raise SystemExit(f"{name} without a fault ended with {status}: {said}")
        self.out, self.made = out.replace(folder, ""), contents(product and f"{folder}/{product}")
        counts, places = {}, {}
        for line in read(f"{folder}/counts").decode().splitlines():
            kind, count, *numbers = line.split()
            counts[kind], places[kind] = int(count), [int(n) for n in numbers]
        shutil.rmtree(folder)
        return counts, places

    def judge(self, name, order, folder):
        """What is wrong with the end of a command of which a call failed; None: nothing."""
        words, product = COMMANDS[name]
        status, out, said, _ = self.call(words, folder, FAIL_CALLS=order)
        self.ended[status] += 1
        self.last_words += "could not go on and ended the process" in said
        sentences = [line for line in said.splitlines() if line.startswith("repose: ") and not line.startswith("repose: warning")]
        self.waiting += "it waits for itself" in said  # TBB, below Embree, where its first use found no memory
        if status not in (0, 2, 3, 4):
            return f"ended with {status}: {said[-400:]}"
        if status != 0 and not sentences:
            return f"ended with {status} without a sentence: {said[-400:]}"
        if product is None or not product.startswith(("out", "half")):
            if contents(f"{folder}/done") != contents("runs/done"):
                return "changed the run that it looked at"
            if status != 0:
                return None
        elif status != 0:
            again = ["--resume", "--frames", "2"] if os.path.exists(f"{folder}/{product}/run.json") else ["scene.lua", "--overwrite"]
            done = subprocess.run([self.program, "run", *again, "-o", f"{folder}/{product}", *LESS], capture_output=True,
                                  text=True, errors="replace", timeout=LIMIT)
            if done.returncode != 0:
                return f"ended with {status} ({sentences[-1]}), and then did not go on: {done.stderr[-400:]}"
        made = contents(product and f"{folder}/{product}")
        if made != self.made:
            files = [n for n in {**made, **self.made} if made.get(n) != self.made.get(n)] if isinstance(made, dict) else ""
            # a picture of another frame can be made without one that is torn, and says so
            if "the camera was aimed without frame" not in said:
                return f"ended with {status}, and what it made is not the same: {files}: {said[-200:]}"
        if product is None and out.replace(folder, "") != self.out and name != "check":
            return f"ended with 0, and printed something else: {out[-400:]}"
        return None

    def one(self, name, order):
        folder = self.try_folder()
        wrong = self.judge(name, order, folder)
        shutil.rmtree(folder, ignore_errors=True)
        if wrong:
            self.wrong.append(f"{name}, {order}: {wrong}")
            print(self.wrong[-1], flush=True)

    def sweep(self, name, kinds, sample, rng):
        counts, places = self.learn(name)
        for kind in kinds:
            before, last = self.ended.copy(), self.last_words
            # of the disk all calls if they are not too many, and those places from which all fails from then on
            every = max(1, counts[kind] // 250) if kind != "memory" else counts[kind] + 1
            numbers = sorted({*places[kind], *range(1, counts[kind] + 1, every)})
            orders = [f"{kind}:{n}" for n in numbers] + [f"{kind}:{n}+" for n in places[kind][::4]]
            if sample is not None and len(orders) > sample:
                # spread over the command, and both ways
                first = rng.random()
                orders = [orders[int((i + first) * len(orders) / sample)] for i in range(sample)]
            with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
                list(pool.map(lambda order: self.one(name, order), orders))
            ended = self.ended - before
            print(f"{name}: {len(orders)} failures of {kind}, from {len(places[kind])} places ({counts[kind]} calls): "
                  + ", ".join(f"{n} ended in {s}" for s, n in sorted(ended.items(), key=str))
                  + (f"; {self.last_words - last} by last words" if self.last_words > last else ""), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("library")
    parser.add_argument("--sample", type=int)
    parser.add_argument("--command", choices=COMMANDS, action="append")
    parser.add_argument("--kind", choices=KINDS, action="append")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    program, library = os.path.abspath(options.program), os.path.abspath(options.library)
    rng = random.Random(options.seed)
    if options.sample:
        print("seed", options.seed)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        sweep = Sweep(program, library)
        for name in options.command or COMMANDS:
            sweep.sweep(name, options.kind or KINDS, options.sample, rng)
        os.chdir("/")
    print(f"{sum(sweep.ended.values())} failing calls, " + ", ".join(f"{n} ended in {s}" for s, n in sorted(sweep.ended.items(), key=str))
          + f"; {sweep.last_words} by last words; {sweep.waiting} waited in TBB for ever, and were ended; {len(sweep.wrong)} wrong")
    sys.exit(1 if sweep.wrong else 0)


main()
