#!/usr/bin/env python3
"""repose render: every option, and a sentence for what cannot be drawn.

    test_render.py REPOSE

Without ffmpeg the tests of movies are skipped, unless CI=true.
"""

import json
import math
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import zlib

CI = os.environ.get("CI") == "true"
NOBODY = 65534 if os.getuid() == 0 else None  # root may write anywhere
QUICK = "--preview", "--size", "96x64"

SCENE = """
scene { title = "Pictures", dx = 0.04, fps = 30, frames = 4 }
particles { material = material.sand { name = "dry" }, shape = box { min = {-0.1, 0.02, -0.1}, max = {0, 0.2, 0.1} } }
particles { material = material.sand { name = "damp", cohesion = 200 },
            shape = box { min = {0, 0.02, -0.1}, max = {0.1, 0.2, 0.1} }, velocity = {2, 0, 0} }
collider { name = "floor", shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} } }
collider { name = "ball", shape = sphere { center = {0, 0.5, 0}, radius = 0.1 }, look = "%s", color = {0, 0, 1},
           velocity = {0, -1, 0} }
"""

# A blue ball that falls by itself.
FALL = SCENE.replace("collider { name = \"ball\",", "rigid { name = \"ball\", density = 500,").replace("{0, -1, 0} }", "{0, -3, 0} }")

# Sand slides down a blue slope onto a green floor.
SLOPE = """
scene { title = "Slope", dx = 0.04, fps = 10, frames = 6 }
particles { material = material.sand { friction_angle = 20 },
            shape = box { min = {-0.1, 0.06, -0.1}, max = {0.1, 0.26, 0.1} } }
collider { name = "slope", shape = half_space { point = {0, 0, 0}, normal = {0.6, 1, 0} }, contact = "slip",
           color = {0, 0, 1} }
collider { name = "floor", shape = half_space { point = {0, -1.5, 0}, normal = {0, 1, 0} }, color = {0, 0.5, 0} }
"""


# A slice with a blue wall that is deep, and green slope without end.
FLAT = """
scene { title = "Flat", dimension = 2, dx = 0.04, fps = 30, frames = 2 }
particles { material = material.sand {}, shape = box { min = {-0.4, 0.02, 0}, max = {0, 0.3, 0} } }
collider { name = "floor", shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} }, color = {0.9, 0.1, 0.1} }
collider { name = "wall", shape = box { min = {0.4, 0, -1}, max = {0.5, 0.6, 1} }, color = {0, 0, 1} }
collider { name = "slope", shape = half_space { point = {-0.45, 0, 0}, normal = {1, 0.3, 0} }, color = {0, 0.5, 0} }
"""


# Sand, of which the left half is soaked, and a block of water with some grains in it, at rest without gravity.
WET = """
scene { title = "Wet", method = "mixture", dimension = 2, dx = 0.04, fps = 100, frames = 1, gravity = {0, 0, 0} }
camera { eye = {0, 0.2, 1}, look_at = {0, 0.2, 0}, fov = 60 }
local sand, water = material.sand { color = {0.8, 0.6, 0.4} }, material.water {}
particles { material = sand, shape = box { min = {-0.8, 0, 0}, max = {0, 0.4, 0} } }
particles { material = water, within = sand, shape = box { min = {-0.8, 0, 0}, max = {-0.4, 0.4, 0} } }
particles { material = water, shape = box { min = {0.12, 0, 0}, max = {0.8, 0.4, 0} } }
particles { material = sand, shape = sphere { center = {0.6, 0.2, 0}, radius = 0.08 } }
"""


def read_png(path):
    """Width, height and rows of RGB tuples."""
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed = 8, b""
    while at < len(data):
        size, kind = struct.unpack_from(">I4s", data, at)
        if kind == b"IHDR":
            width, height, depth, color = struct.unpack_from(">IIBB", data, at + 8)
            assert (depth, color) == (8, 2)
        elif kind == b"IDAT":
            packed += data[at + 8:at + 8 + size]
        at += 12 + size
    raw, rows, before = zlib.decompress(packed), [], bytes(3 * width)
    for y in range(height):
        line = bytearray(raw[y * (3 * width + 1) + 1:(y + 1) * (3 * width + 1)])
        kind = raw[y * (3 * width + 1)]
        for i in range(len(line)):
            a, b = line[i - 3] if i >= 3 else 0, before[i]
            c = before[i - 3] if i >= 3 else 0
            p = a + b - c
            paeth = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            line[i] = (line[i] + (0, a, b, (a + b) // 2, paeth)[kind]) & 255
        rows.append([tuple(line[i:i + 3]) for i in range(0, len(line), 3)])
        before = bytes(line)
    return width, height, rows


def share(path, wanted):
    width, height, rows = read_png(path)
    return sum(wanted(*pixel) for row in rows for pixel in row) / (width * height)


def blue(r, g, b):
    return b > 1.5 * r and b > 60


def green(r, g, b):
    return g > 1.5 * r and g > 1.5 * b


def catches(process, number):
    """Waits until a process has a handler for a signal."""
    for _ in range(3000):
        with open("/proc/%d/status" % process.pid) as file:
            mask = next(line.split()[1] for line in file if line.startswith("SigCgt"))
        if int(mask, 16) >> (number - 1) & 1:
            return
        time.sleep(0.01)
    raise AssertionError("no handler for signal %d" % number)


def full(kilobytes):
    """What a shell runs before a command that is to find a disk without room: no file may grow beyond this."""
    return "ulimit -f %d; trap '' XFSZ; exec " % kilobytes


class Pictures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        for look in "solid", "glass", "hidden":
            with open(cls.at(look + ".lua"), "w") as file:
                file.write(SCENE % look)
            cls.repose("run", look + ".lua", "-o", look, "--quiet")
        with open(cls.at("slope.lua"), "w") as file:
            file.write(SLOPE)
        cls.repose("run", "slope.lua", "-o", "slope", "--quiet")
        with open(cls.at("flat.lua"), "w") as file:
            file.write(FLAT)
        cls.repose("run", "flat.lua", "-o", "flat", "--quiet")
        os.chmod(cls.folder.name, 0o755)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def at(cls, *names):
        return os.path.join(cls.folder.name, *names)

    @classmethod
    def repose(cls, *args, status=0, path=None, user=None, before=None):
        env = dict(os.environ, PATH=path) if path is not None else None
        program = REPOSE
        if user is not None:  # who may not look into every folder
            program = shutil.copy(REPOSE, cls.folder.name)
        command = [program, *args] if before is None else ["bash", "-c", before + '"$@"', "bash", program, *args]
        done = subprocess.run(command, cwd=cls.folder.name, capture_output=True, text=True, timeout=300, env=env, user=user)
        assert done.returncode == status, "%s: %d, want %d\n%s" % (args, done.returncode, status, done.stderr)
        return done.stderr

    @classmethod
    def start(cls, *args, path=None):
        env = dict(os.environ, PATH=path) if path is not None else None
        return subprocess.Popen([REPOSE, *args], cwd=cls.folder.name, stderr=subprocess.PIPE, text=True, env=env)

    def stopped(self, process, number):
        """What it says when a signal comes; it must end soon, with the usual status."""
        process.send_signal(number)
        said = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, 128 + number, said)
        return said

    def wait_for(self, *names):
        for _ in range(3000):
            if os.path.exists(self.at(*names)):
                return
            time.sleep(0.01)
        self.fail("no " + "/".join(names))

    def picture(self, name, *args, run="solid"):
        quick = QUICK[:1] if "--size" in args else QUICK
        self.repose("render", run, "-o", name, *quick, *args)
        return self.at(name)

    def test_colliders_look_as_the_scene_says(self):
        solid, hidden, glass = (share(self.picture(look + ".png", run=look), blue) for look in ("solid", "hidden", "glass"))
        self.assertGreater(solid, 0.01)
        self.assertLess(hidden, 0.2 * solid)
        self.assertLess(glass, 0.2 * solid)
        a, b = read_png(self.at("glass.png"))[2], read_png(self.at("hidden.png"))[2]
        self.assertNotEqual(a, b)

    def test_colliders_move(self):
        def height(name):
            rows = read_png(self.at(name))[2]
            return sum(y for y, row in enumerate(rows) for p in row if blue(*p)) / sum(blue(*p) for row in rows for p in row)
        self.picture("first.png", "--frame", "0", "--samples", "8")
        self.picture("last.png", "--samples", "8")
        self.assertGreater(height("last.png"), height("first.png") + 2)

    def test_rigid_bodies_move_and_blur(self):
        """As colliders do. The ball is blue; where it is seen for a part of the time only, the picture is less so."""
        with open(self.at("fall.lua"), "w") as file:
            file.write(FALL % "solid")
        self.repose("run", "fall.lua", "-o", "fall", "--quiet")

        def rows(name, *more):
            self.picture(name, "--samples", "16", "--camera", "0,0.4,1.6/0,0.35,0", *more, run="fall")
            return [[p[2] - p[0] for p in row] for row in read_png(self.at(name))[2]]
        first, sharp, blurred = rows("f0.png", "--frame", "0"), rows("f2.png", "--frame", "2"), rows("b2.png", "--frame", "2", "--shutter", "1")

        def height(picture):
            lit = [(y, x) for y, row in enumerate(picture) for x in row if x > 60]
            return sum(y for y, _ in lit) / len(lit)
        self.assertGreater(height(sharp), height(first) + 5)
        self.assertLess(max(map(max, blurred)), 1.1 * max(map(max, sharp)))
        part = [sum(sum(20 < x < 60 for x in row) for row in picture) for picture in (sharp, blurred)]
        self.assertGreater(part[1], 1.5 * part[0])

    def test_the_camera(self):
        self.picture("auto.png")
        self.picture("near.png", "--camera", "0,0.4,1/0,0.1,0", "--fov", "20")
        self.assertNotEqual(read_png(self.at("auto.png"))[2], read_png(self.at("near.png"))[2])
        for name, value in ("--camera", "1,2,3"), ("--camera", "0,0,0/0,0,0"), ("--fov", "0"), ("--size", "12"), \
                           ("--size", "0x10"), ("--samples", "0"), ("--radius", "-1"), ("--threads", "0"):
            said = self.repose("render", "solid", "-o", "wrong.png", name, value, status=2)
            self.assertRegex(said, name + "|camera stands|render.width")
        self.assertFalse(os.path.exists(self.at("wrong.png")))

    def test_a_preview_is_the_same_view(self):
        args = "--size", "96x64", "--camera", "0.5,0.5,1/0,0.15,0"
        self.repose("render", "solid", "-o", "whole.png", "--samples", "16", *args)
        self.repose("render", "solid", "-o", "quick.png", "--preview", *args)
        whole, quick = (read_png(self.at(n))[2] for n in ("whole.png", "quick.png"))

        def mean(rows, x, y):  # of a block of 8 x 8
            return [sum(rows[y + j][x + i][k] for i in range(8) for j in range(8)) / 64 for k in range(3)]
        far = [max(abs(a - b) for a, b in zip(mean(whole, x, y), mean(quick, x, y)))
               for x in range(0, 96, 8) for y in range(0, 64, 8)]
        self.assertLess(sum(far) / len(far), 12)
        self.assertLess(max(far), 70)

    def test_larger_grains_and_fewer_samples(self):
        def sand(*args):
            return share(self.picture("r.png", "--camera", "0.5,0.5,1/0,0.15,0", *args, run="hidden"),
                         lambda r, g, b: r > 1.4 * b)
        self.assertGreater(sand("--radius", "0.04"), 1.3 * sand("--radius", "0.004"))
        self.assertNotEqual(read_png(self.picture("s1.png", "--samples", "1"))[2],
                            read_png(self.picture("s9.png", "--samples", "9"))[2])

    def test_slopes_and_floors_go_as_far_as_the_sand(self):
        # from above, onto where the sand has gone: the slope was drawn when the run began, around its start
        path = self.picture("slope.png", "--camera", "0.6,1,0/0.6,-0.36,0", "--fov", "20", run="slope")
        self.assertGreater(share(path, blue), 0.6)
        path = self.picture("floor.png", "--camera", "6,0,4/6,-1.5,0", run="slope")
        self.assertGreater(share(path, green), 0.5)

    def test_water_is_smooth_clear_and_wets_sand(self):
        with open(self.at("wet.lua"), "w") as file:
            file.write(WET)
        self.repose("run", "wet.lua", "-o", "wet", "--quiet")

        def part(name, x, *args):
            """Lightness around a place: its mean and how far it lies to and fro."""
            rows = read_png(self.picture(name, "--size", "320x180", "--samples", "8", *args, run="wet"))[2]
            lights = [sum(rows[90 + j][160 + int(x * 156) + i]) for i in range(-12, 13) for j in range(-12, 13)]
            mean = sum(lights) / len(lights)
            return mean, math.sqrt(sum((c - mean) ** 2 for c in lights) / len(lights))
        soaked, dry = (part("wet.png", x)[0] for x in (-0.6, -0.2))
        self.assertLess(soaked, 0.85 * dry)
        self.assertLess(part("wet.png", 0.3)[1], 0.3 * part("drops.png", 0.3, "--droplets")[1])
        # grains are seen in it
        self.assertGreater(part("wet.png", 0.6)[1], 4 * part("wet.png", 0.3)[1])
        # spheres wet nothing, and where colours stand for data nothing else is shown
        self.assertGreater(part("drops.png", -0.6, "--droplets")[0], 0.95 * part("drops.png", -0.2, "--droplets")[0])
        self.assertGreater(part("data.png", 0.3, "--color", "species")[1], part("wet.png", 0.3)[1])
        with open(self.picture("one.png", "--threads", "1", run="wet"), "rb") as one, \
                open(self.picture("three.png", "--threads", "3", run="wet"), "rb") as three:
            self.assertEqual(one.read(), three.read())

    def test_a_slice_is_seen_straight_from_the_front(self):
        path = self.picture("flat.png", "--size", "320x180", "--samples", "16", run="flat")
        width, height, rows = read_png(path)
        wall = [(min(x), max(x)) for x in ([x for x, p in enumerate(row) if blue(*p)] for row in rows) if len(x) > 2]
        # upright, one face and no sides, six times as high as wide
        self.assertLessEqual(max(a for a, b in wall) - min(a for a, b in wall), 1)
        self.assertLessEqual(max(b for a, b in wall) - min(b for a, b in wall), 1)
        self.assertAlmostEqual(len(wall) / (wall[9][1] - wall[9][0] + 1), 6, delta=0.5)
        # the floor goes from side to side, and its line is level
        def red(r, g, b):
            return r > 1.5 * g and r > 1.5 * b and r - g > 70 and abs(g - b) < 25
        tops = [min((y for y in range(height) if red(*rows[y][x])), default=height) for x in (0, 160, width - 1)]
        self.assertLessEqual(max(tops) - min(tops), 1)
        self.assertTrue(140 < tops[0] < 179, tops)
        self.assertGreater(share(path, green), 0.005)  # from the front it would be no more than a line
        # a camera straight before it has no perspective either: its scale is that at which it looks
        wide = self.picture("ahead.png", "--size", "320x180", "--samples", "16", "--camera", "0,0.3,2/0,0.3,0", "--fov", "40", run="flat")
        upright = [(min(x), max(x)) for x in ([x for x, p in enumerate(row) if blue(*p)] for row in read_png(wide)[2]) if len(x) > 2]
        self.assertAlmostEqual(len(upright), 0.6 * 180 / (2 * 2 * math.tan(math.radians(20))), delta=1.5)
        self.assertLessEqual(max(b for a, b in upright) - min(b for a, b in upright), 1)
        # a lens, for those who want one
        self.assertNotEqual(read_png(self.picture("lens.png", "--size", "320x180", "--samples", "16", "--fov", "30", run="flat"))[2],
                            rows)

    def test_a_few_grains_far_away_do_not_make_the_rest_small(self):
        def sand(r, g, b):
            return r - b > 35
        with open(self.at("stray.lua"), "w") as file:
            file.write("""scene { dx = 0.04, frames = 1 }
particles { material = material.sand {}, shape = box { min = {-0.2, 0, -0.2}, max = {0.2, 0.4, 0.2} } }
particles { material = material.sand {}, shape = box { min = {9, 300, 0}, max = {9.04, 300.04, 0.04} } }
collider { shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} } }
""")
        self.repose("run", "stray.lua", "-o", "stray", "--quiet")
        self.assertGreater(share(self.picture("stray.png", run="stray"), sand), 0.1)

    def test_threads_do_not_change_the_picture(self):
        for threads in "1", "2":
            self.picture("t%s.png" % threads, "--threads", threads, "--shutter", "0.5")
        with open(self.at("t1.png"), "rb") as a, open(self.at("t2.png"), "rb") as b:
            self.assertEqual(a.read(), b.read())

    def test_every_colour(self):
        seen = set()
        for what in ("grains", "speed", "pressure", "case", "material", "body", "height", "id", "strain", "volume_gain",
                     "velocity.y", "strain.3", "group"):
            self.picture("c.png", "--color", what)
            with open(self.at("c.png"), "rb") as file:
                seen.add(file.read())
        self.assertGreater(len(seen), 9)
        self.assertIn("did you mean 'speed'", self.repose("render", "solid", *QUICK, "--color", "sped", status=2))
        self.assertIn("no quantity 'velocity.w'", self.repose("render", "solid", *QUICK, "--color", "velocity.w", status=2))
        self.assertIn("materials", self.repose("render", "solid/frames/frame.000001.hdf", *QUICK, "--color", "case", status=2))

    def test_the_range_decides_the_colours(self):
        low = share(self.picture("low.png", "--color", "height", "--range", "5,6", "--no-legend", run="hidden"),
                    lambda r, g, b: g > 1.2 * r and g > 1.2 * b)
        high = share(self.picture("high.png", "--color", "height", "--range", "-0.3,0.3", "--no-legend", run="hidden"),
                     lambda r, g, b: g > 1.2 * r and g > 1.2 * b)
        self.assertGreater(high, low + 0.02)
        self.assertIn("--range", self.repose("render", "solid", *QUICK, "--range", "1", status=2))
        self.assertIn("range", self.repose("render", "solid", *QUICK, "--color", "height", "--range", "2,1", status=2))

    def test_words_in_the_picture(self):
        args = "--color", "speed", "--size", "320x200", "--camera", "0.5,0.5,1/0,0.15,0"
        self.picture("legend.png", *args)
        self.picture("bare.png", *args, "--no-legend")
        self.picture("stamp.png", *args, "--no-legend", "--time")
        legend, bare, stamp = (read_png(self.at(n))[2] for n in ("legend.png", "bare.png", "stamp.png"))
        changed = [(x, y) for y in range(200) for x in range(320) if legend[y][x] != bare[y][x]]
        self.assertGreater(len(changed), 500)
        self.assertGreater(min(x for x, y in changed), 200)  # at the right
        changed = [(x, y) for y in range(200) for x in range(320) if stamp[y][x] != bare[y][x]]
        self.assertGreater(len(changed), 50)
        self.assertTrue(max(x for x, y in changed) < 160 and min(y for x, y in changed) > 150)  # below, at the left

    def test_the_camera_leaves_room_for_the_legend(self):
        args = "--color", "height", "--size", "240x240", "--radius", "0.02"
        path = self.picture("room.png", *args, run="hidden")
        rows, bare = read_png(path)[2], read_png(self.picture("bare.png", *args, "--no-legend", run="hidden"))[2]

        def right(rows):  # of what is coloured, below the legend
            return max(x for row in rows[141:] for x, p in enumerate(row) if max(p) > 1.6 * min(p) and max(p) > 40)
        self.assertGreater(right(bare), 190)
        self.assertLess(right(rows), 150)

    def test_an_open_shutter_blurs_what_is_fast(self):
        self.picture("sharp.png", "--samples", "16", run="hidden")
        self.picture("blurred.png", "--samples", "16", "--shutter", "1", run="hidden")

        def edges(name):
            rows = read_png(self.at(name))[2]
            return sum(abs(row[x][0] - row[x + 1][0]) for row in rows for x in range(len(row) - 1))
        self.assertLess(edges("blurred.png"), 0.9 * edges("sharp.png"))
        self.assertIn("--shutter", self.repose("render", "solid", *QUICK, "--shutter", "2", status=2))

    def test_plot_of_yield(self):
        for run in "solid",:
            self.repose("render", run, "-o", "plot.png", "--plot", "yield", "--size", "480x270", "--time")
            path = self.at("plot.png")
            self.assertGreater(share(path, lambda r, g, b: g > r + 20 and g > b + 20) +
                               share(path, lambda r, g, b: b > r + 20), 0.001)
        # the time goes into the row above the diagrams, not onto the numbers below them
        self.repose("render", "solid", "-o", "bare.png", "--plot", "yield", "--size", "480x270")
        with_time, bare = (read_png(self.at(name))[2] for name in ("plot.png", "bare.png"))
        changed = [y for y in range(270) for x in range(480) if with_time[y][x] != bare[y][x]]
        self.assertGreater(len(changed), 50)
        self.assertLess(max(changed), 40)
        self.assertIn("--plot: want yield", self.repose("render", "solid", "--plot", "stress", status=2))

    def test_the_last_words_name_the_frame_and_its_time(self):
        self.assertIn("w.png shows frame 4 of solid, at 0.133333 s", self.repose("render", "solid", *QUICK, "-o", "w.png"))
        self.assertIn("w.png shows frame 3 of solid, at 0.1 s",
                      self.repose("render", "solid", "--frame", "3", "--plot", "yield", "-o", "w.png"))
        single = "solid/frames/frame.000000.hdf"
        self.assertIn("w.png shows frame 0 of %s, at 0 s" % single, self.repose("render", single, *QUICK, "-o", "w.png"))

    def test_grains_have_the_colour_of_their_material(self):
        def of(name, material):
            with open(self.at(name + ".lua"), "w") as file:
                file.write("scene { dx = 0.04, fps = 30, frames = 1 }\nparticles { material = %s,\n"
                           "shape = box { min = {-0.1, 0, -0.1}, max = {0.1, 0.2, 0.1} } }\n" % material)
            self.repose("run", name + ".lua", "-o", name, "--quiet")
            return self.picture(name + ".png", run=name)
        plain, tinted = of("untinted", "material.sand {}"), of("tinted", "material.sand { color = {0.1, 0.1, 0.9} }")
        self.assertLess(share(plain, blue), 0.001)
        self.assertGreater(share(tinted, blue), 0.15)
        self.assertGreater(share(of("jelly", "material.elastic {}"), lambda r, g, b: b > 1.2 * r and b > 60), 0.15)
        # a run of before there were colours, or whose scene is lost, has the colours of sand
        path = self.at("tinted", "scene.resolved.json")
        with open(path) as file:
            scene = json.load(file)
        self.assertEqual(scene["materials"][0].pop("color"), [0.1, 0.1, 0.9])
        with open(path, "w") as file:
            json.dump(scene, file)
        self.assertLess(share(self.picture("before.png", run="tinted"), blue), 0.001)
        # and goes on: the scene of the folder counts
        self.repose("run", "-o", "tinted", "--resume", "--frames", "2", "--quiet")

    def test_glue_is_not_among_grains(self):
        with open(self.at("glued.lua"), "w") as file:
            file.write("scene { dx = 0.04, fps = 1000, frames = 1, gravity = {0, 0, 0} }\n"
                       "particles { material = material.elastic { color = {0.1, 0.1, 0.9} }, body = 'cut',\n"
                       "shape = box { min = {-0.2, 0, -0.2}, max = {0.2, 0.4, 0.2} } }\n"
                       "fracture { body = 'cut', by = voronoi { count = 40 }, strength = 1e6 }\n")
        self.repose("run", "glued.lua", "-o", "glued", "--quiet")
        def yellow(r, g, b): return r > 1.6 * b and g > 1.2 * b and r > 60
        self.assertGreater(share(self.picture("glued.png", run="glued"), blue), 0.15)
        self.assertEqual(share(self.picture("glued.png", run="glued"), yellow), 0)
        self.assertGreater(share(self.picture("held.png", "--color", "strength", "--no-legend", run="glued"), yellow), 0.005)

    def test_a_signal_ends_a_picture(self):
        for number in signal.SIGINT, signal.SIGTERM:
            process = self.start("render", "solid", "-o", "long.png", "--samples", "65536")
            catches(process, number)
            said = self.stopped(process, number)
            self.assertIn("stopped before long.png was finished; run it again", said)
            self.assertEqual([n for n in os.listdir(self.at()) if n.startswith("long.png")], [])

    def test_options_that_would_do_nothing(self):
        for option in ("--frames", "2:3"), ("--every", "2"), ("--fps", "10"):
            said = self.repose("render", "solid", *QUICK, *option, "-o", "nothing.png", status=2)
            self.assertIn(option[0] + ": for movies only, with --movie", said)
        for option in ("--color", "speed"), ("--no-legend",), ("--camera", "1,1,1/0,0,0"), ("--fov", "20"), \
                      ("--radius", "0.1"), ("--shutter", "0.5"), ("--samples", "4"), ("--preview",), ("--droplets",):
            said = self.repose("render", "solid", "--plot", "yield", *option, "-o", "nothing.png", status=2)
            self.assertIn(option[0] + ": for pictures of particles only", said)
        for color in (), ("--color", "grains"), ("--color", "case"), ("--color", "material"), ("--color", "body"):
            said = self.repose("render", "solid", *QUICK, *color, "--range", "0,1", "-o", "nothing.png", status=2)
            self.assertIn("range: want color to be a number, such as speed; %s has no range" % (color or ("", "grains"))[1], said)
        said = self.repose("render", "solid/frames/frame.000001.hdf", *QUICK, "--frame", "1", "-o", "nothing.png", status=2)
        self.assertIn("--frame: for the folder of a run only", said)
        self.assertFalse(os.path.exists(self.at("nothing.png")))

    def test_endings_that_promise_something_else(self):
        for name in "x.jpg", "x.mp4", "out.d/x.tiff", "x.png.gif":
            said = self.repose("render", "solid", *QUICK, "-o", name, status=2)
            self.assertIn("pictures are written as PNG: want a name that ends in .png, got '%s'" % name, said)
            self.assertFalse(os.path.exists(self.at(name)))
        for name in "m.gif", "m.png":
            said = self.repose("render", "solid", *QUICK, "--movie", "-o", name, status=2)
            self.assertIn("movies are written as MP4: want a name that ends in .mp4, got '%s'" % name, said)
        self.assertFalse(os.path.exists(self.at("m.gif.frames")))
        os.makedirs(self.at("v1.2"), exist_ok=True)
        for name in "plain", "X.PNG", "v1.2/plain":
            self.repose("render", "solid", *QUICK, "-o", name)
            read_png(self.at(name))

    def test_what_cannot_be_drawn(self):
        os.makedirs(self.at("empty"), exist_ok=True)
        self.assertIn("no run folder", self.repose("render", "empty", status=4))
        self.assertIn("nowhere", self.repose("render", "nowhere", status=4))
        self.assertIn("has no frame 77; its last is 4", self.repose("render", "solid", "--frame", "77", *QUICK, status=2))
        shutil.copytree(self.at("solid"), self.at("cut"))
        path = self.at("cut", "frames", "frame.000002.hdf")
        os.truncate(path, os.path.getsize(path) - 100)
        self.assertIn("frame.000002.hdf", self.repose("render", "cut", "--frame", "2", *QUICK, "-o", "cut.png", status=4))
        self.assertFalse(os.path.exists(self.at("cut.png")))
        # the others can still be drawn
        self.repose("render", "cut", "--frame", "1", *QUICK, "-o", "uncut.png")
        path = self.at("cut", "frames", "frame.000004.hdf")
        os.truncate(path, 100)
        self.repose("render", "cut", "--frame", "1", *QUICK, "-o", "uncut.png")
        self.assertIn("frame.000004.hdf", self.repose("render", "cut", *QUICK, "-o", "cut.png", status=4))
        self.assertIn("wants the folder of a run", self.repose("render", "cut/frames/frame.000001.hdf", "--movie", *QUICK,
                                                               status=2))
        subprocess.run(["h5mkgrp", "foreign.hdf", "/group"], cwd=self.folder.name, check=True)
        self.assertIn("foreign.hdf: no frame of Repose", self.repose("render", "foreign.hdf", *QUICK, status=4))
        shutil.copytree(self.at("solid"), self.at("bare"))
        shutil.rmtree(self.at("bare", "frames"))
        os.mkdir(self.at("bare", "frames"))
        self.assertIn("bare has no frames yet", self.repose("render", "bare", *QUICK, status=4))
        self.assertIn("cannot write", self.repose("render", "solid", *QUICK, "-o", "no/such/folder.png", status=4))
        # a disk without room keeps the old picture
        self.picture("old.png")
        with open(self.at("old.png"), "rb") as file:
            before = file.read()
        self.assertIn("cannot write old.png", self.repose("render", "solid", "-o", "old.png", "--preview", "--frame", "1",
                                                          before=full(2), status=4))
        with open(self.at("old.png"), "rb") as file:
            self.assertEqual(file.read(), before)
        self.assertFalse(os.path.exists(self.at("old.png.tmp")))
        # a folder that may not be written
        os.makedirs(self.at("locked"), exist_ok=True)
        os.chmod(self.at("locked"), 0o555)
        self.assertIn("cannot write locked/x.png", self.repose("render", "solid", *QUICK, "-o", "locked/x.png", status=4,
                                                               user=NOBODY))
        self.assertIn("cannot make locked/x.frames", self.repose("render", "solid", *QUICK, "--movie", "-o", "locked/x.mp4",
                                                                 status=4, user=NOBODY))
        self.assertEqual(os.listdir(self.at("locked")), [])


class Movies(Pictures):
    for name in [n for n in vars(Pictures) if n.startswith("test_")]:
        locals()[name] = None

    def test_movie(self):
        said = self.repose("render", "solid", "--movie", "--preview", "--size", "97x63", "-o", "m.mp4")
        self.assertIn("picture 5 of 5", said)
        self.assertIn("m.mp4 shows 5 frames of solid", said)
        probe = subprocess.run(["ffprobe", "-v", "error", "-count_frames", "-show_streams", "-of", "json", self.at("m.mp4")],
                               capture_output=True, text=True)
        stream = json.loads(probe.stdout)["streams"][0]
        self.assertEqual((stream["codec_name"], stream["pix_fmt"], stream["width"], stream["height"],
                          stream["nb_read_frames"], stream["r_frame_rate"]), ("h264", "yuv420p", 98, 64, "5", "30/1"))
        with open(self.at("m.mp4"), "rb") as file:
            data = file.read()
        self.assertLess(data.index(b"moov"), data.index(b"mdat"))  # plays while it loads
        # again: nothing is drawn that is there
        times = {n: os.stat(self.at("m.frames", n)).st_mtime_ns for n in os.listdir(self.at("m.frames"))}
        os.remove(self.at("m.frames", "frame.000002.png"))
        said = self.repose("render", "solid", "--movie", "--preview", "--size", "97x63", "-o", "m.mp4")
        self.assertIn("4 of 5 pictures are there already", said)
        self.assertEqual(os.stat(self.at("m.frames", "frame.000001.png")).st_mtime_ns, times["frame.000001.png"])
        # other settings, or a newer frame: drawn anew
        said = self.repose("render", "solid", "--movie", *QUICK, "--color", "speed", "-o", "m.mp4", "--every", "2")
        self.assertNotIn("already", said)
        self.assertIn("picture 3 of 3", said)
        os.utime(self.at("solid", "frames", "frame.000002.hdf"), (time.time() + 9, time.time() + 9))
        said = self.repose("render", "solid", "--movie", *QUICK, "--color", "speed", "-o", "m.mp4", "--every", "2")
        self.assertIn("2 of 3 pictures are there already", said)

    def test_a_signal_ends_a_movie(self):
        args = "render", "solid", "--movie", "--size", "96x64", "--samples", "160", "--threads", "1", "-o", "early.mp4"
        process = self.start(*args)
        self.wait_for("early.frames", "frame.000000.png")
        said = self.stopped(process, signal.SIGTERM)
        self.assertRegex(said, "stopped; [1-4] of 5 pictures are there, run it again to go on")
        done = re.search("stopped; ([1-4])", said)[1]
        left = sorted(os.listdir(self.at("early.frames")))
        self.assertEqual(left, ["frame.00000%d.png" % i for i in range(int(done))] + ["settings.txt"])
        self.assertFalse(os.path.exists(self.at("early.mp4.tmp")))
        self.assertIn(done + " of 5 pictures are there already", self.repose(*args))
        # while ffmpeg works: it ends too, and its half of a movie goes
        os.makedirs(self.at("slow"), exist_ok=True)
        with open(self.at("slow", "ffmpeg"), "w") as file:
            file.write("#!/bin/sh\nfor last; do :; done\necho $$ >pid.tmp\nmv pid.tmp pid\necho half >\"$last\"\nexec sleep 200\n")
        os.chmod(self.at("slow", "ffmpeg"), 0o755)
        process = self.start("render", "solid", "--movie", *QUICK, "-o", "late.mp4",
                             path=self.at("slow") + ":" + os.environ["PATH"])
        self.wait_for("pid")
        said = self.stopped(process, signal.SIGINT)
        self.assertIn("stopped; 5 of 5 pictures are there, run it again to go on", said)
        self.assertEqual([n for n in os.listdir(self.at()) if n.startswith("late.mp4")], [])
        with open(self.at("pid")) as file:
            self.assertFalse(os.path.exists("/proc/" + file.read().strip()))

    def test_without_ffmpeg(self):
        said = self.repose("render", "solid", "--movie", *QUICK, "-o", "none.mp4", status=4, path="/nowhere")
        self.assertIn("install ffmpeg", said)
        self.assertFalse(os.path.exists(self.at("none.frames")))  # found out before anything was drawn
        # one that fails: the pictures stay, the movie does not come to be
        os.makedirs(self.at("bin"), exist_ok=True)
        with open(self.at("bin", "ffmpeg"), "w") as file:
            file.write("#!/bin/sh\nfor last; do :; done\necho half >\"$last\"\necho 'no such encoder' >&2\nexit 1\n")
        os.chmod(self.at("bin", "ffmpeg"), 0o755)
        said = self.repose("render", "solid", "--movie", *QUICK, "-o", "bad.mp4", status=4,
                           path=self.at("bin") + ":" + os.environ["PATH"])
        self.assertIn("ffmpeg failed to make bad.mp4: no such encoder", said)
        self.assertEqual([n for n in os.listdir(self.at()) if n.startswith("bad.mp4")], [])
        self.assertTrue(os.path.exists(self.at("bad.frames", "frame.000004.png")))

    def test_a_movie_that_has_no_room(self):
        # pictures that fit and a movie that does not: the one that was there stays
        args = "render", "slope", "--movie", "--size", "64x48", "--preview", "-o", "small.mp4"
        self.repose(*args)
        with open(self.at("small.mp4"), "rb") as file:
            before = file.read()
        self.assertIn("ffmpeg failed to make small.mp4", self.repose(*args, before=full(1), status=4))
        with open(self.at("small.mp4"), "rb") as file:
            self.assertEqual(file.read(), before)
        self.assertFalse(os.path.exists(self.at("small.mp4.tmp")))
        # not even a picture
        said = self.repose("render", "slope", "--movie", "--size", "160x120", "--preview", "-o", "brim.mp4", before=full(2),
                           status=4)
        self.assertRegex(said, "cannot write brim.frames/frame.00000[0-9].png")
        self.assertEqual(os.listdir(self.at("brim.frames")), ["settings.txt"])

    def test_a_torn_frame_stops_a_movie(self):
        shutil.copytree(self.at("solid"), self.at("torn"))
        path = self.at("torn", "frames", "frame.000003.hdf")
        os.truncate(path, os.path.getsize(path) // 2)
        said = self.repose("render", "torn", "--movie", *QUICK, "--threads", "1", "-o", "torn.mp4", status=4)
        self.assertIn("torn/frames/frame.000003.hdf", said)
        self.assertFalse(os.path.exists(self.at("torn.mp4")))
        self.assertIn("frame.000001.png", os.listdir(self.at("torn.frames")))  # what was drawn is kept

    def test_which_frames_and_how_fast(self):
        self.repose("render", "solid", "--movie", *QUICK, "--frames", "1:3", "--fps", "5", "-o", "slow.mp4")
        probe = subprocess.run(["ffprobe", "-v", "error", "-count_frames", "-show_streams", "-of", "json", self.at("slow.mp4")],
                               capture_output=True, text=True)
        stream = json.loads(probe.stdout)["streams"][0]
        self.assertEqual((stream["nb_read_frames"], stream["r_frame_rate"]), ("3", "5/1"))
        self.assertIn("--fps", self.repose("render", "solid", "--movie", "--fps", "0", status=2))
        self.assertIn("--every", self.repose("render", "solid", "--movie", "--every", "0", status=2))

    def test_a_movie_wants_a_run(self):
        self.assertIn("wants the folder of a run",
                      self.repose("render", "solid/frames/frame.000001.hdf", "--movie", *QUICK, status=2))
        self.assertIn("--frame", self.repose("render", "solid", "--movie", "--frame", "1", status=2))
        self.assertIn("want frames from 0 to 4", self.repose("render", "solid", "--movie", *QUICK, "--frames", "2:9", status=2))


def main():
    global REPOSE
    REPOSE = os.path.abspath(sys.argv[1])
    load = unittest.TestLoader().loadTestsFromTestCase
    suite = unittest.TestSuite([load(Pictures)])
    if shutil.which("ffmpeg") is not None:
        suite.addTest(load(Movies))
    else:
        print("SKIPPED: movies, for there is no ffmpeg", file=sys.stderr)
        if CI:
            return 1
    return 0 if unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
