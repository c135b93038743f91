#!/usr/bin/env python3
"""A run that is killed again and again, and resumed each time, ends in the same bits as one that is not. So does one
that is stopped, as by Ctrl-Z, and continued.

    test_resume.py PROGRAM [--kills N] [--stops N]      kills in all, over single and double, one and two threads

The moments are random, from a seed that is printed. Compared are all frames, byte for byte, and stats.csv
without its columns of wall-clock seconds.
"""

import argparse
import csv
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

# An eighth of a second with all that has a state of its own or moves: five materials of three species (sand or
# water, since both together are not for this method), a spout that hits the floor hard enough for sand to be put back out
# of it, a sink, a border, colliders moved by a function, by key frames and along with another, a mesh, rigid bodies and a joint. Particles cross pages and are sorted; states in mid-frame too.
SCENE = """
-- in 2D the file gives the title, also when the run is resumed from its own copy
scene { title = %(dimension)d == 3 and "Slump" or nil, dimension = %(dimension)d, dx = 0.025, fps = 60, frames = 8, precision = "%(precision)s" }
local sand = "%(kind)s" == "sand" and material.sand {} or material.snow { density = 2200 }
local rubber = material.elastic { young = 1e5 }
particles { material = sand, shape = box { min = {0, 0.02, 0}, max = {%(width)g, 0.5, 0.2} }, velocity = {0.7, 0, 0} }
particles { material = rubber, shape = sphere { center = {0.4, 0.8, 0.1}, radius = 0.12 }, velocity = {-2, -3, 0.5} }
collider { shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} }, contact = "separate", friction = 0.4 }
collider { shape = box { min = {0.6, 0, -1}, max = {0.8, 0.2, 1} }, motion = function(t)
    return { position = {-0.3 * t, 0, 0} }
end }
collider { name = "arm", shape = capsule { a = {0, 0.3, 0}, b = {0, 0.3, 0.2}, radius = 0.06 }, contact = "slip", keys = {
    { time = 0, position = {-0.1, 0, 0} },
    { time = 0.06, position = {0, 0, 0}, rotation = { angle = 20 } },
    { time = 0.12, position = {0.05, 0.02, 0}, rotation = { angle = -30 } } } }
collider { name = "hand", attach = "arm", shape = sphere { center = {0, 0.5, 0.1}, radius = 0.06 }, spin = { rate = 200 } }
-- a ball that falls into the sand, and a flap with a motor that reaches its end
rigid { name = "ball", shape = sphere { center = {0.15, 0.6, 0.1}, radius = 0.07 }, density = 800, velocity = {0, -2, 0}, spin = { rate = 400 }, restitution = 0.3 }
rigid { name = "flap", shape = box { min = {0.5, 0.3, 0.02}, max = {0.8, 0.36, 0.18} }, density = 500 }
joint { kind = "hinge", a = "flap", at = {0.5, 0.33, 0.1}, speed = function(t) return 600 + 1000 * t end, strength = 20, range = { min = -10, max = 25 } }
emitter { material = sand, shape = sphere { center = {1.2, 0.12, 0.1}, radius = 0.04 }, velocity = {0, -5, 0}, stop = 0.1 }
-- three species in one run: a pool into which water is poured too, a lump of clay, and marks in the rubber
local water = "%(kind)s" == "water" and material.water { sound_speed = 20, viscosity = 1 } or material.snow {}
particles { material = water, shape = box { min = {0.9, 0.02, 0}, max = {1.1, 0.14, 0.2} }, velocity = {0.5, 0, 0} }
particles { material = material.cam_clay { preconsolidation = 2e3 }, shape = sphere { center = {0.9, 0.4, 0.1}, radius = 0.06 }, velocity = {0, -3, 0} }
particles { material = material.tracer {}, shape = sphere { center = {0.4, 0.8, 0.1}, radius = 0.06 } }
emitter { material = water, shape = sphere { center = {1, 0.5, 0.1}, radius = 0.04 }, velocity = {0, -2, 0}, start = 0.02, stop = 0.09 }
emitter { material = sand, shape = sphere { center = {0, 0.7, 0.1}, radius = 0.04 }, velocity = {1, 0, 0}, rate = 5, attach = "hand" }   -- its mouth goes along
probe { name = "front", plane = { point = {0.35, 0, 0}, normal = {1, 0.2, 0} } }
probe { name = "pool", point = {1, 0.1, 0.1}, every = 0.002 }
probe { name = "grain", particle = 200, every = 0.0037 }
-- of chosen columns in 2D: the run then goes on from its state alone
if %(dimension)d == 2 then output { columns = {"velocity", "stress", "pressure", "%(kind)s" == "sand" and "volume_gain" or "volume_ratio"} } end
sink { shape = sphere { center = {0.38, 0.05, 0.1}, radius = 0.06 } }
domain { min = {-2, -1, -2}, max = {1.22, 2, 2}, leave = "remove" }
if %(dimension)d == 3 then
    collider { shape = move(mesh { file = "wedge.obj", scale = 0.2 }, { position = {0.2, 0, 0} }), contact = "separate" }
end
"""
# A block that breaks on sand in the middle of frames: glue is state too, and cracks are a table.
CRACKS = """
scene { dimension = 2, dx = 0.05, fps = 60, frames = 8 }
particles { material = material.elastic { density = 1000, young = 5e5 }, body = "block", velocity = {0.3, -4}, shape = box { min = {-0.5, 0.25}, max = {0.5, 1.1} } }
particles { material = material.sand {}, shape = box { min = {-1, 0}, max = {1, 0.2} } }
fracture { body = "block", by = voronoi { count = 7, seed = 4 }, strength = {4e3, 9e3} }
contact { bodies = {"block", "rest"}, friction = 0.5 }
collider { shape = half_space { point = {0, 0}, normal = {0, 1} }, contact = "separate", friction = 0.4 }
"""
# Water that seeps into sand of two kinds, and is poured and drained: saturation, cohesion and the fields of both are state.
MIXTURE = """
scene { title = "mud", method = "mixture", dimension = 2, dx = 0.04, fps = 60, frames = 8 }
local coarse, fine = material.sand { cohesion = 500 }, material.sand { porosity = 0.3, conductivity = 1e-4 }
local water = material.water { sound_speed = 15 }
particles { material = coarse, shape = box { min = {0.4, 0}, max = {0.8, 0.5} } }
particles { material = fine, shape = box { min = {0.8, 0}, max = {1.2, 0.4} } }
particles { material = water, within = fine, shape = box { min = {0.8, 0}, max = {1.2, 0.3} } }
particles { material = water, shape = box { min = {0, 0}, max = {0.4, 0.5} } }
emitter { material = water, shape = sphere { center = {0.6, 0.8}, radius = 0.08 }, velocity = {0, -3}, stop = 0.1 }
sink { shape = box { min = {1.15, 0}, max = {1.3, 0.1} } }
collider { shape = half_space { point = {0, 0}, normal = {0, 1} }, contact = "separate", friction = 0.5 }
collider { shape = half_space { point = {0, 0}, normal = {1, 0} }, contact = "slip" }
rigid { shape = sphere { center = {0.25, 0.6}, radius = 0.08 }, density = 500 }
"""
# Implicit steps: what bounds the next one is state, and tries that failed are counted.
IMPLICIT = """
scene { title = "heap", method = "implicit", dimension = 2, dx = 0.04, fps = 50, frames = 8, dt_max = 4e-3, implicit = { newton = 5 } }
particles { material = material.sand { cohesion = 100 }, shape = box { min = {0.1, 0}, max = {0.6, 0.4} } }
particles { material = material.elastic { density = 800, young = 1e6 }, velocity = {-2, 0}, shape = sphere { center = {0.8, 0.2}, radius = 0.1 } }
collider { shape = half_space { point = {0, 0}, normal = {0, 1} }, contact = "separate", friction = 0.5 }
collider { shape = box { min = {-0.2, 0}, max = {0, 0.6} }, motion = function(t) return { position = {t, 0} } end, contact = "separate", friction = 0.2 }
"""
# Nearly all of its time is spent in a function of the script, so that is where stops find it. A call may take 1 s of
# processor time; every stop is longer.
BUSY = """
scene { dimension = 2, dx = 0.05, frames = 5, gravity = function(t)
    local sum = 0
    for i = 1, 500000 do sum = sum + i * t end
    return 1e-9 * sum, -9.81
end }
particles { material = material.sand {}, shape = box { min = {0, 0}, max = {0.4, 0.4} } }
collider { shape = half_space { point = {0, 0}, normal = {0, 1} } }
"""
STOP = 1.2  # s
MESH = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"


def fail(*words):
    print(*words)
    sys.exit(1)


class Case:
    kills = 0  # of all cases

    def __init__(self, program, name, threads, text):
        self.program, self.threads, self.name = program, threads, name
        self.script = f"{self.name}.lua"
        with open(self.script, "w", encoding="utf-8") as file:
            file.write(text)

    @classmethod
    def killed(cls, program, kind, precision, threads, dimension):
        width = 0.3 if dimension == 3 else 0.8
        return cls(program, f"{dimension}d-{kind}-{precision}-{threads}", threads,
                   SCENE % {"kind": kind, "precision": precision, "dimension": dimension, "width": width})

    def command(self, out, *more):
        # a state in mid-frame every few milliseconds: as many moments to be killed in as can be had
        return [self.program, "run", self.script, "-o", out, "--quiet", "--threads", str(self.threads),
                "--every", "0.005", *more]

    def whole(self):
        began = time.monotonic()
        subprocess.run(self.command(f"{self.name}-whole"), check=True)
        self.seconds = time.monotonic() - began

    def broken(self, kills, rng):
        """Kill `kills` times, each at a random moment; then let it end."""
        out, killed = f"{self.name}-broken", 0
        while killed < kills:
            mode = ["--resume"] if os.path.exists(f"{out}/run.json") else []
            run = subprocess.Popen(self.command(out, *mode), stderr=subprocess.PIPE, text=True)
            # some at once, in the middle of starting; most while it steps and writes
            time.sleep(rng.choice([rng.uniform(0, 0.05), rng.uniform(0, 2 * self.seconds / max(kills, 1))]))
            run.send_signal(signal.SIGKILL)
            said = run.communicate()[1]
            if run.returncode == 0:  # it was quicker: start over
                self.compare(out)
                shutil.rmtree(out)
            elif run.returncode == -signal.SIGKILL:
                killed += 1
                Case.kills += 1
            else:
                fail(f"{self.name}: ended with {run.returncode} after {killed} kills: {said}")
        mode = ["--resume"] if os.path.exists(f"{out}/run.json") else []
        subprocess.run(self.command(out, *mode), check=True)
        self.compare(out)

    def in_parts(self, frames):
        """So many frames first, then the rest; kills may all come before there is a state."""
        out = f"{self.name}-parts"
        subprocess.run(self.command(out, "--overwrite", "--frames", str(frames)), check=True)
        subprocess.run(self.command(out, "--resume", "--frames", "8"), check=True)
        self.compare(out)

    def stopped(self, stops, rng):
        """Stop and continue `stops` times, each at a random moment; starts over where that takes several runs."""
        out, done = f"{self.name}-stopped", 0
        while done < stops:
            run = subprocess.Popen(self.command(out, "--overwrite"), stderr=subprocess.PIPE, text=True)
            while done < stops:
                time.sleep(rng.uniform(0, 0.5 * self.seconds))
                if run.poll() is not None:
                    break
                run.send_signal(signal.SIGSTOP)
                time.sleep(STOP)
                run.send_signal(signal.SIGCONT)
                done += 1
            said = run.communicate()[1]
            if run.returncode != 0:
                fail(f"{self.name}: ended with {run.returncode} after {done} stops: {said}")
            self.compare(out)

    def compare(self, out):
        whole = f"{self.name}-whole"
        for name in sorted(os.listdir(f"{whole}/frames")):
            with open(f"{whole}/frames/{name}", "rb") as a, open(f"{out}/frames/{name}", "rb") as b:
                if a.read() != b.read():
                    fail(f"{self.name}: {name} differs")
        if self.stats(whole) != self.stats(out):
            fail(f"{self.name}: stats.csv differs")
        tables = [name for name in ("forces.csv", "probes.csv", "bodies.csv", "contacts.csv", "cracks.csv") if os.path.exists(f"{whole}/{name}")]
        for name in tables:
            with open(f"{whole}/{name}", "rb") as a, open(f"{out}/{name}", "rb") as b:
                if a.read() != b.read():
                    fail(f"{self.name}: {name} differs")
        state = self.name.startswith("2d")  # where frames do not keep it
        if state:
            with open(f"{whole}/state.hdf", "rb") as a, open(f"{out}/state.hdf", "rb") as b:
                if a.read() != b.read():
                    fail(f"{self.name}: state.hdf differs")
        left = [name for name in os.listdir(out) + os.listdir(f"{out}/frames") if name.endswith(".tmp")]
        if left or os.path.exists(f"{out}/state.hdf") != state:
            fail(f"{self.name}: left behind: {left or 'state.hdf'}")

    def stats(self, out):
        with open(f"{out}/stats.csv", encoding="utf-8") as file:
            wall = ("sort_s", "p2g_s", "grid_s", "solve_s", "balance_s", "product_s", "krylov_s", "g2p_s",
                    "write_s", "hold_s")
            return [{k: v for k, v in row.items() if k not in wall} for row in csv.DictReader(file)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--kills", type=int, default=12)
    parser.add_argument("--stops", type=int, default=0)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    print("seed", options.seed)
    rng = random.Random(options.seed)
    program = os.path.abspath(options.program)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("wedge.obj", "w", encoding="utf-8") as file:
            file.write(MESH)
        cases = [Case.killed(program, kind, precision, threads, dimension)
                 for dimension, kind, precision, threads in ((3, "sand", "single", 1), (3, "sand", "single", 2), (3, "water", "double", 2),
                                                             (2, "sand", "double", 1), (2, "water", "single", 1)) if options.kills > 0]
        for i, case in enumerate(cases):
            kills = options.kills // len(cases) + (i < options.kills % len(cases))
            case.whole()
            rows = case.stats(f"{case.name}-whole")
            if not (int(rows[-1]["removed_sink"]) > 0 and int(rows[-1]["removed_domain"]) > 0 and
                    int(rows[-1]["born"]) > int(rows[0]["born"])):
                fail(f"{case.name}: nothing was poured, sunk or left the domain: {rows[-1]}")
            with open(f"{case.name}-whole/probes.csv", encoding="utf-8") as file:
                probes = list(csv.DictReader(file))
            if not (len(probes) > 200 and float(probes[-3]["passed_kg"] or probes[-2]["passed_kg"] or probes[-1]["passed_kg"])):
                fail(f"{case.name}: probes read nothing")
            case.broken(kills, rng)
            print(f"{case.name}: {kills} kills, the same bits; {case.seconds:.1f} s without a break")
        if cases:
            for name in "frames/frame.000008.hdf", "probes.csv":
                with open(f"3d-sand-single-1-whole/{name}", "rb") as a, open(f"3d-sand-single-2-whole/{name}", "rb") as b:
                    if a.read() != b.read():
                        fail(f"one and two threads differ in {name}")
        if options.kills > 0:
            case = Case(program, "cracks", 2, CRACKS)
            case.whole()
            with open("cracks-whole/cracks.csv", encoding="utf-8") as file:
                if len(list(csv.DictReader(file))) < 10:
                    fail("cracks: hardly anything broke")
            case.in_parts(2)
            kills = 2 + options.kills // 10
            case.broken(kills, rng)
            print(f"cracks: {kills} kills, the same bits; {case.seconds:.1f} s without a break")
        if options.kills > 0:
            alike = []
            for threads in 1, 2, 5:
                case = Case(program, f"mixture-{threads}", threads, MIXTURE)
                case.whole()
                alike.append(f"mixture-{threads}-whole/frames/frame.000008.hdf")
            for name in alike[1:]:
                with open(alike[0], "rb") as a, open(name, "rb") as b:
                    if a.read() != b.read():
                        fail(f"{alike[0]} and {name} differ")
            row = case.stats("mixture-5-whole")[-1]
            if not (float(row["water_m3"]) > 0 and int(row["born"]) > 0 and int(row["removed_sink"]) > 0):
                fail(f"mixture: nothing was poured or drained: {row}")
            for frames in 2, 3, 5:  # between different sorts: water takes two ways, by what its page meets
                case.in_parts(frames)
            kills = 2 + options.kills // 10
            case.broken(kills, rng)
            print(f"mixture: {kills} kills, the same bits, and with 1, 2 and 5 threads; {case.seconds:.1f} s without a break")
        if options.kills > 0:
            for threads in 1, 2, 5:
                case = Case(program, f"implicit-{threads}", threads, IMPLICIT)
                case.whole()
                with open("implicit-1-whole/frames/frame.000008.hdf", "rb") as a, \
                        open(f"implicit-{threads}-whole/frames/frame.000008.hdf", "rb") as b:
                    if a.read() != b.read():
                        fail(f"implicit: 1 and {threads} threads differ")
            row = case.stats("implicit-5-whole")[-1]
            if not (float(row["rejected"]) > 0 and float(row["krylov_iterations"]) > 0):
                fail(f"implicit: no try failed, or nothing was solved: {row}")
            case.in_parts(3)
            kills = 2 + options.kills // 10
            case.broken(kills, rng)
            print(f"implicit: {kills} kills, the same bits, and with 1, 2 and 5 threads; {case.seconds:.1f} s without a break")
        if options.stops > 0:
            case = Case(program, "busy", 1, BUSY)
            case.whole()
            case.stopped(options.stops, rng)
            print(f"{options.stops} stops of {STOP} s, the same bits; {case.seconds:.1f} s without a stop")
        os.chdir("/")
    print(f"{Case.kills} kills, the same bits after each")  # `make check-all` shows lines that begin with a number


main()
