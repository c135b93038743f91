#!/usr/bin/env python3
"""The same scene with y up and with z up: the same sand, measurements, pictures and files.

The program is named by the environment variable REPOSE or by the first argument.
"""

import csv
import json
import os
import subprocess
import sys
import tempfile
import unittest

REPOSE = os.path.abspath(os.environ.get("REPOSE") or (sys.argv.pop(1) if len(sys.argv) > 1 else "repose"))
os.environ["REPOSE"] = REPOSE  # for what is imported next
from test_render import read_png

# Gravity, the axes of cylinder, cone and revolve and the landscape follow from `up`; the rest is turned here. The mesh is
# one file, whose y is up. Places that are not on a lattice would be others, and so would sums.
SCENE = """
local up = "%(up)s"
local function at(x, y, z) if up == "z" then return {x, -z, y} end return {x, y, z} end
local function block(a, b, c, d, e, f) if up == "z" then return box { min = at(a, b, f), max = at(d, e, c) } end
    return box { min = at(a, b, c), max = at(d, e, f) } end
scene { title = "Up", up = up, dx = 0.02, frames = 3 }
local sand = material.sand {}
particles { material = sand, shape = block(-0.1, 0.02, -0.1, 0.14, 0.26, 0.1), sampling = "lattice", jitter = 0 }
particles { material = sand, shape = cylinder { base = at(0.3, 0, 0.1), radius = 0.06, height = 0.2 }, sampling = "lattice", jitter = 0 }
collider { name = "floor", shape = half_space { point = {0, 0, 0}, normal = at(0, 1, 0) }, color = {0.3, 0.5, 0.3} }
collider { name = "cone", shape = cone { base = at(0, 0, 0.3), radius = 0.1, height = 0.15 } }
collider { name = "cup", shape = revolve { base = at(-0.3, 0, 0.3), profile = {{0, 0}, {0.1, 0}, {0.05, 0.2}, {0, 0.2}} } }
collider { name = "wedge", shape = move(mesh { file = "wedge.obj", scale = 0.2, up = "y" }, { position = at(0.2, 0, -0.4) }) }
collider { name = "hill", shape = intersect(
    height_field { min = at(-0.6, 0, up == "z" and 0.5 or -0.5), max = at(-0.2, 1, up == "z" and -0.5 or 0.5),
                   height = function(x, q) return 0.1 + 0.2 * (up == "z" and -q or q) + 0.1 * x end },
    block(-0.6, -0.1, -0.5, -0.2, 0.5, 0.5)) }
"""
WEDGE = "v 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"


def turned(v):
    """From a scene where z is up to one where y is."""
    return [v[0], v[2], -v[1]]


class Up(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        with open(cls.at("wedge.obj"), "w") as file:
            file.write(WEDGE)
        for up in "yz":
            with open(cls.at(up + ".lua"), "w") as file:
                file.write(SCENE % {"up": up})
            cls.repose("run", up + ".lua", "-o", up, "--quiet")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def at(cls, *names):
        return os.path.join(cls.folder.name, *names)

    @classmethod
    def repose(cls, *words):
        done = subprocess.run([REPOSE, *words], cwd=cls.folder.name, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, f"repose {' '.join(words)}: {done.stderr}"
        return done.stdout

    def measure(self, up, *words):
        return {k: v[0] for k, v in json.loads(self.repose("measure", up, *words, "--json")).items()}

    def test_measurements(self):
        y, z = (self.measure(up, "center", "--frame", "1") for up in "yz")
        for a, b in zip("xyz", turned([z["x_m"], z["y_m"], z["z_m"]])):
            self.assertAlmostEqual(y[a + "_m"], b, 4)
        self.assertLess(z["vz_m_s"], -0.1)
        # other numbers of them, at other places: not the same to the last digit
        for words, within in ((("runout", "along=r"), 0.02), (("volume",), 0.03), (("roundness",), 0.05), (("profile", "along=r"), 0.05)):
            y, z = (self.measure(up, *words) for up in "yz")
            for name in y:
                if name not in ("deviation", "cos4", "least_m", "empty"):
                    self.assertAlmostEqual(y[name], z[name], delta=within * abs(y[name]) + 1e-9, msg=f"{words} {name}")
        floor, lower = (self.measure("z", "volume", *more)["bulk_m3"] for more in ((), ("z0=-0.1",)))
        self.assertGreater(lower, floor + 0.001)
        done = subprocess.run([REPOSE, "measure", "z", "volume", "y0=-0.1"], cwd=self.folder.name, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (2, "repose: volume.y0: z is up in this run: want z0, got y0\n"))

    def test_pictures(self):
        # by height, since colours of grains follow their numbers; all colliders are in it, and the ground to the horizon
        for up in "yz":
            self.repose("render", up, "--frame", "0", "--preview", "--color", "height", "--size", "192x128", "-o", up + ".png")
        (_, _, y), (_, _, z) = (read_png(self.at(up + ".png")) for up in "yz")
        self.assertLess(self.far(y, z), 0.02)
        # and of frames alone, without colliders
        for up in "yz":
            self.repose("render", f"{up}/frames/frame.000000.hdf", "--preview", "--color", "height", "--size", "192x128",
                        "-o", up + ".png")
        (_, _, y), (_, _, z) = (read_png(self.at(up + ".png")) for up in "yz")
        self.assertLess(self.far(y, z), 0.02)

    def far(self, y, z):
        """The share of pixels that differ by more than a tenth."""
        far = sum(max(abs(a - b) for a, b in zip(p, q)) > 24 for r, s in zip(y, z) for p, q in zip(r, s))
        return far / (192 * 128)

    def test_files(self):
        for up in "yz":
            self.repose("export", up, "--to", "usda", "-o", f"{up}-usda")
            with open(self.at(f"{up}-usda", "run.usda")) as file:
                self.assertIn(f'upAxis = "{up.upper()}"', file.read())
        for words in ((), ("--up", "y"), ("--up", "z")):
            self.repose("export", "z", "--to", "csv", "-o", "csv" + "".join(words), "--frames", "1:1", *words)
        plain, y, z = (self.rows("csv" + more) for more in ("", "--upy", "--upz"))
        self.assertEqual(plain, z)
        for a, b in zip(z, y):
            self.assertEqual(turned(a), b)
        with open(self.at("z", "shapes", "floor.ply"), "rb") as file:
            self.assertIn(b"z up", file.read(200))

    def rows(self, folder):
        with open(self.at(folder, "particles.0001.csv")) as file:
            rows = [line for line in file if not line.startswith("#")]
        return [[float(row[a + "_m"]) for a in "xyz"] for row in csv.DictReader(rows)]


if __name__ == "__main__":
    unittest.main(verbosity=1)
