#!/usr/bin/env python3
"""What repose export writes is what the frames hold, as the programs see it that open it.

    test_export.py REPOSE [--blender]

ParaView (pvpython) reads the native frames and the vtp files; USD's own library (usd-core from PyPI) reads the
usda files where it is installed; PLY and CSV are read here. With --blender, Debian's Blender opens vdb and ply.
A missing program skips its tests, unless CI=true.
"""

import csv
import glob
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

SKIPPED = 77
CI = os.environ.get("CI") == "true"
NOBODY = 65534 if os.getuid() == 0 else None  # root may write anywhere

SCENE = """
scene { title = "Export", dx = 0.04, fps = 30, frames = 3 }
particles { material = material.sand {}, shape = box { min = {-0.1, 0.05, -0.1}, max = {0.1, 0.25, 0.1} },
            velocity = {1, 0, 0.5} }
collider { name = "floor", shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} } }
collider { name = "the paddle", shape = box { min = {-0.05, -0.05, -0.2}, max = {0.05, 0.05, -0.15} },
           spin = { axis = {0, 1, 0}, rate = 90 }, velocity = {0, 0.5, 0} }
"""

# grains come out of a mouth and vanish below: in no two frames are they the same ones
POUR = """
scene { title = "Pour", dx = 0.04, fps = 30, frames = 6 }
local sand = material.sand {}
particles { material = sand, shape = box { min = {-0.06, 0.05, -0.06}, max = {0.06, 0.15, 0.06} }, velocity = {0.3, 0, 0} }
emitter { material = sand, shape = box { min = {-0.06, 0.38, -0.06}, max = {0.06, 0.42, 0.06} }, velocity = {0, -1, 0} }
sink { shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} } }
"""

# a brick that tumbles, and one on a hinge
TUMBLE = """
scene { title = "Tumble", dx = 0.04, fps = 30, frames = 5 }
particles { material = material.sand {}, shape = box { min = {0, 0.02, 0}, max = {0.2, 0.1, 0.2} } }
rigid { name = "brick", shape = box { min = {0, 0.3, 0}, max = {0.2, 0.4, 0.1} }, density = 2000, velocity = {1, -0.5, 0},
        spin = { axis = {1, 2, 3}, rate = 500 } }
rigid { name = "door", shape = box { min = {1, 0, 0}, max = {1.4, 0.2, 0.1} }, density = 500 }
joint { kind = "hinge", a = "door", at = {1, 0, 0}, axis = {0, 1, 0}, speed = 90 }
collider { name = "floor", shape = half_space { point = {0, -1, 0}, normal = {0, 1, 0} } }
"""

# two materials of two species, and marks that are no matter
SPLASH = """
scene { title = "Splash", dx = 0.04, fps = 48, frames = 2 }
particles { material = material.water { sound_speed = 10 }, shape = box { min = {-0.2, 0, -0.2}, max = {0.2, 0.2, 0.2} } }
particles { material = material.elastic { name = "the ball", density = 700, young = 8e4 },
            shape = box { min = {-0.1, 0.45, -0.1}, max = {0.1, 0.65, 0.1} }, velocity = {0, -2, 0} }
particles { material = material.tracer {}, shape = box { min = {-0.1, 0.45, -0.1}, max = {0.1, 0.65, 0.1} } }
"""

# a block that flies apart beside some sand
CHIPS = """
scene { title = "Chips", dx = 0.1, fps = 25, frames = 3, gravity = {0, 0, 0} }
particles { material = material.elastic { density = 1000, young = 5e5, color = {0, 0.5, 1} }, body = "block",
            velocity_gradient = {{2.5, -3, 0}, {3, 2.5, 0}, {0, 0, 0}}, shape = box { min = {-0.5, 0.15, -0.4}, max = {0.5, 1, 0.4} } }
fracture { body = "block", by = voronoi { count = 6, seed = 4 }, strength = {6e3, 9e3} }
particles { material = material.sand {}, shape = box { min = {1.2, 0, 0}, max = {1.6, 0.4, 0.4} } }
"""

# Runs inside pvpython: points and columns at every time that a file has.
LOOK = """
import json, sys
from paraview.simple import OpenDataFile, servermanager

def see(data):
    points = data.GetPointData()
    columns = {points.GetArrayName(i): [points.GetArray(i).GetTuple(k) for k in range(data.GetNumberOfPoints())]
               for i in range(points.GetNumberOfArrays())}
    names = {points.GetArrayName(i): [points.GetArray(i).GetComponentName(k)
                                      for k in range(points.GetArray(i).GetNumberOfComponents())]
             for i in range(points.GetNumberOfArrays())}
    return {"position": [data.GetPoint(i) for i in range(data.GetNumberOfPoints())],
            "cells": data.GetNumberOfCells(), "columns": columns, "names": names}

def blocks(data):
    if data.IsA("vtkMultiBlockDataSet"):
        return [b for i in range(data.GetNumberOfBlocks()) for b in blocks(data.GetBlock(i))]
    return [data] if data is not None else []

for path in sys.argv[1:]:
    reader = OpenDataFile(path)
    times = list(getattr(reader, "TimestepValues", None) or [0.0])
    seen = []
    for t in times:
        reader.UpdatePipeline(t)
        seen.append([see(b) for b in blocks(servermanager.Fetch(reader))])
    print("LOOK " + json.dumps({"times": times, "seen": seen}))
"""

BLENDER = """
import bpy, json, sys
folder = sys.argv[sys.argv.index("--") + 1]
out = {}
bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.ops.object.volume_import(filepath=folder + "/vdb/particles.0002.vdb", files=[])
volume = bpy.context.object.data
volume.grids.load()
out["grids"] = {g.name: [g.data_type, g.channels] for g in volume.grids}
scale = [g.matrix_object[0][0] for g in volume.grids]
out["voxel"] = scale[0]
bpy.ops.object.volume_import(filepath=folder + "/vdb/particles.0001.vdb", directory=folder + "/vdb/",
                             files=[{"name": "particles.000%d.vdb" % i} for i in (1, 2, 3)], use_sequence_detection=True)
out["sequence"] = [bpy.context.object.data.is_sequence, bpy.context.object.data.frame_duration]
bpy.ops.import_mesh.ply(filepath=folder + "/ply/particles.0002.ply")
out["points"] = [list(v.co) for v in bpy.context.object.data.vertices]
bpy.ops.import_mesh.ply(filepath=folder + "/ply/colliders/floor.ply")
out["floor"] = [len(bpy.context.object.data.vertices), len(bpy.context.object.data.polygons)]
bpy.ops.import_mesh.ply(filepath=folder + "/shards/pieces.0003.ply")
out["shards"] = [[list(v.co) for v in bpy.context.object.data.vertices], len(bpy.context.object.data.polygons)]
print("BLENDER " + json.dumps(out))
"""

VDB = """
import json, sys
import pyopenvdb as vdb
grids, about = vdb.readAll(sys.argv[1])
grid = {g.name: g for g in grids}
h = grid["density"].transform.voxelSize()[0]
flow, moved, volume = grid["velocity"].getConstAccessor(), [0.0] * 3, 0.0
for it in grid["density"].citerOnValues():
    volume += it.value * it.count * h ** 3
    v = flow.getValue(it.min)
    moved = [m + it.value * h ** 3 * x for m, x in zip(moved, v)]
skin = grid["surface"].getConstAccessor()
at = lambda p: skin.getValue(tuple(round(x / h) for x in p))
middle = [float(x) for x in sys.argv[2:5]]
print("VDB " + json.dumps({"about": about, "voxel": h, "volume": volume, "mean": [m / volume for m in moved], "inside": at(middle),
                           "outside": at([middle[0] + 0.5, middle[1], middle[2]])}))
"""

SHARDS = """
import json, sys
from pxr import Usd, UsdGeom, UsdShade, UsdValidation
out = {}
stage = Usd.Stage.Open(sys.argv[1])
validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
out["wrong"] = [e.GetErrorAsString() for e in UsdValidation.ValidationContext(validators).Validate(stage)]
out["points"] = [len(UsdGeom.Points(stage.GetPrimAtPath("/Run/Particles")).GetPointsAttr().Get(t)) for t in range(4)]
for prim in stage.GetPrimAtPath("/Run/Pieces").GetChildren():
    mesh, seen = UsdGeom.Mesh(prim), []
    for t in (0, 3):
        m = UsdGeom.XformCache(t).GetLocalToWorldTransform(prim)
        seen.append([list(m.Transform(p)) for p in mesh.GetPointsAttr().Get()])
    out[prim.GetName()] = [seen, len(mesh.GetFaceVertexCountsAttr().Get()), mesh.GetPointsAttr().GetNumTimeSamples(),
                           UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()[0].GetPath().pathString]
print("SHARDS " + json.dumps(out))
"""

GRIDS = """
import json, sys
import pyopenvdb as vdb
out = {}
for g in vdb.readAll(sys.argv[1])[0]:
    h = g.transform.voxelSize()[0]
    low, high = g.evalActiveVoxelBoundingBox()
    at = lambda *p: g.getConstAccessor().getValue(tuple(round(x / h) for x in p))
    volume = sum(i.value * i.count for i in g.citerOnValues()) * h ** 3 if g.name.startswith("density") else 0
    out[g.name] = {"volume": volume, "low": low[1] * h, "high": high[1] * h, "water": at(0, 0.1, 0), "ball": at(0, 0.5, 0)}
print("GRIDS " + json.dumps(out))
"""

USD = """
import json, sys
from pxr import Usd, UsdGeom, UsdShade, UsdValidation
validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
for path in sys.argv[1:]:
    # as somebody has it who refers to the file from a scene of their own
    stage = Usd.Stage.CreateInMemory()
    layer = Usd.Stage.Open(path)
    for get, put in ((UsdGeom.GetStageUpAxis, UsdGeom.SetStageUpAxis), (UsdGeom.GetStageMetersPerUnit, UsdGeom.SetStageMetersPerUnit)):
        put(stage, get(layer))
    stage.SetTimeCodesPerSecond(layer.GetTimeCodesPerSecond())
    stage.DefinePrim("/World/Sand").GetReferences().AddReference(path)
    points = UsdGeom.Points(stage.GetPrimAtPath("/World/Sand/Particles"))
    out = {"up": UsdGeom.GetStageUpAxis(layer), "metres": UsdGeom.GetStageMetersPerUnit(layer), "fps": layer.GetTimeCodesPerSecond(),
           "range": [layer.GetStartTimeCode(), layer.GetEndTimeCode()], "roots": [p.GetName() for p in layer.GetPseudoRoot().GetChildren()],
           "wrong": [e.GetErrorAsString() for e in UsdValidation.ValidationContext(validators).Validate(layer)], "frames": {}}
    binding = lambda prim: UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()[0].GetPath().pathString
    gain = UsdGeom.PrimvarsAPI(points).GetPrimvar("volume_gain")
    out["material"] = binding(points.GetPrim())
    for half in range(2 * int(layer.GetStartTimeCode()), 2 * int(layer.GetEndTimeCode()) + 1):
        t = 0.5 * half
        out["frames"]["%g" % t] = {
            "position": [list(p) for p in points.GetPointsAttr().Get(t) or []],
            "velocity": [list(p) for p in points.GetVelocitiesAttr().Get(t) or []],
            "width": list(points.GetWidthsAttr().Get(t) or []), "id": list(points.GetIdsAttr().Get(t) or []),
            "color": len(points.GetDisplayColorAttr().Get(t) or []),
            "gain": list(gain.Get(t)) if gain.IsDefined() else []}
    out["colliders"] = {}
    for prim in stage.GetPrimAtPath("/World/Sand/Colliders").GetChildren():
        mesh = UsdGeom.Mesh(prim)
        cache = UsdGeom.XformCache(3)
        out["colliders"][prim.GetName()] = [len(mesh.GetPointsAttr().Get()), len(mesh.GetFaceVertexCountsAttr().Get()),
                                            list(cache.GetLocalToWorldTransform(prim).Transform((0.05, 0, -0.2))), binding(prim),
                                            any(op.GetAttr().GetNumTimeSamples() for op in mesh.GetOrderedXformOps())]
    print("USD " + json.dumps(out))
"""


def said(word, *command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, "%s\n%s" % (done.stdout, done.stderr)
    return [json.loads(line[len(word) + 1:]) for line in done.stdout.splitlines() if line.startswith(word + " ")]


def by_id(frame):
    """A frame has its particles in the order of memory, and some that are gone; exports are in the order of ids."""
    columns = frame["columns"]
    order = sorted((i for i in range(len(frame["position"])) if columns["group"][i][0] != 65535), key=lambda i: columns["id"][i][0])
    return {"position": [frame["position"][i] for i in order],
            "columns": {name: [column[i] for i in order] for name, column in columns.items()}}


def usd_python():
    here = os.path.join(os.path.dirname(__file__), "..", "..", "build", "usd", "bin", "python")  # make usd
    for python in filter(None, (os.environ.get("REPOSE_USD_PYTHON"), here, sys.executable)):
        if shutil.which(python) and subprocess.run([python, "-c", "import pxr"], capture_output=True).returncode == 0:
            return python
    return None


def read_ply(path):
    """Vertices of a binary PLY as dicts, and the faces."""
    sizes = {"float": "f", "double": "d", "uint": "I", "uchar": "B", "int": "i"}
    with open(path, "rb") as file:
        data = file.read()
    head, _, body = data.partition(b"end_header\n")
    lines, names, form, count, faces, element = head.decode().split("\n"), [], "<", 0, 0, ""
    comments = [line[8:] for line in lines if line.startswith("comment ")]
    for line in lines:
        words = line.split()
        if words[:1] == ["element"]:
            element = words[1]
            count, faces = (int(words[2]), faces) if element == "vertex" else (count, int(words[2]))
        elif words[:1] == ["property"] and element == "vertex":
            form += sizes[words[1]]
            names.append(words[2])
    size = struct.calcsize(form)
    rows = [dict(zip(names, struct.unpack_from(form, body, i * size))) for i in range(count)]
    rest = body[count * size:]
    assert len(rest) == faces * 13, (len(rest), faces)
    return rows, faces, comments


class Exports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.at = lambda self, *names: os.path.join(cls.folder.name, *names)
        with open(os.path.join(cls.folder.name, "scene.lua"), "w") as file:
            file.write(SCENE)
        cls.repose("run", "scene.lua", "-o", "out", "--quiet")
        os.chmod(cls.folder.name, 0o755)
        for name in "vtp", "ply", "csv", "usda":
            cls.repose("export", "out", "--to", name, "-o", name, "--columns",
                       "volume_gain,strain,stress,pressure,smooth_pressure,speed")
        frames = sorted(glob.glob(os.path.join(cls.folder.name, "out/frames/frame.*.hdf")))
        script = os.path.join(cls.folder.name, "look.py")
        with open(script, "w") as file:
            file.write(LOOK)
        cls.script = script
        cls.truth = [by_id(f["seen"][0][0]) for f in said("LOOK", "pvpython", script, *frames)]
        with open(os.path.join(cls.folder.name, "out/stats.csv")) as file:
            cls.times = [float(row["time_s"]) for row in csv.DictReader(file)]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def repose(cls, *args, status=0, user=None, before=""):
        program = REPOSE
        if user is not None:  # who may not look into every folder
            program = shutil.copy(REPOSE, cls.folder.name)
            for plugin in glob.glob(os.path.join(os.path.dirname(REPOSE), "..", "**", "repose-vdb.so"), recursive=True)[:1]:
                shutil.copy(plugin, cls.folder.name)
        done = subprocess.run(["bash", "-c", before + 'exec "$@"', "bash", program, *args], cwd=cls.folder.name,
                              capture_output=True, text=True, timeout=300, user=user)
        assert done.returncode == status, "%s: %d, want %d\n%s" % (args, done.returncode, status, done.stderr)
        return done.stderr

    def near(self, got, want, tolerance=1e-6):
        self.assertEqual(len(got), len(want))
        for a, b in zip(got, want):
            self.assertLess(abs(a - b), tolerance * max(1.0, abs(b)))

    def same(self, frame, positions, velocities, ids):
        truth = self.truth[frame]
        self.assertEqual([int(i) for i in ids], [int(i[0]) for i in truth["columns"]["id"]])
        for got, want in zip(positions, truth["position"]):
            self.near(got, want)
        for got, want in zip(velocities, truth["columns"]["velocity"]):
            self.near(got, want)

    def test_vtp_in_paraview(self):
        series, pvd = said("LOOK", "pvpython", self.script, self.at("vtp", "particles.vtp.series"),
                           self.at("vtp", "particles.pvd"))
        self.near(series["times"], self.times, 1e-12)
        self.near(pvd["times"], self.times, 1e-12)
        for seen in series["seen"], pvd["seen"]:
            for i, blocks in enumerate(seen):
                block = blocks[0]
                self.same(i, block["position"], block["columns"]["v"], [x[0] for x in block["columns"]["id"]])
                self.assertEqual(block["cells"], len(block["position"]))
                self.near([x[0] for x in block["columns"]["volume_gain"]],
                          [x[0] for x in self.truth[i]["columns"]["volume_gain"]])
                self.assertEqual(len(block["columns"]["strain"][0]), 6)
                self.assertEqual(block["names"]["stress"], ["xx", "yy", "zz", "xy", "xz", "yz"])
        # colliders go along, the one that stands still in one file for all frames: two triangles, and twelve of a box
        self.assertEqual([b["cells"] for b in pvd["seen"][2][1:]], [2, 12])
        self.assertEqual(sorted(n for n in os.listdir(self.at("vtp")) if n.startswith("colliders")),
                         ["colliders.000%d.vtp" % i for i in range(4)] + ["colliders.vtp"])
        moved = max(p[1] for p in pvd["seen"][3][2]["position"])
        self.assertAlmostEqual(moved, 0.05 + 0.5 * self.times[3], 5)

    def test_ply(self):
        for i, name in enumerate(sorted(glob.glob(self.at("ply", "particles.*.ply")))):
            rows, faces, comments = read_ply(name)
            self.assertEqual(faces, 0)
            self.same(i, [(r["x"], r["y"], r["z"]) for r in rows], [(r["vx"], r["vy"], r["vz"]) for r in rows],
                      [r["id"] for r in rows])
            self.near([r["volume_gain"] for r in rows], [x[0] for x in self.truth[i]["columns"]["volume_gain"]])
            self.assertTrue(all(r["radius"] == r["pscale"] and 0.009 < r["radius"] < 0.011 for r in rows))
            colours = {(r["red"], r["green"], r["blue"]) for r in rows}
            self.assertEqual(colours, {(225, 169, 95), (107, 84, 30), (255, 255, 255)})
            self.assertTrue(any("time %.17g" % self.times[i] in c for c in comments), comments)
        self.assertEqual(i, 3)
        rows, faces, _ = read_ply(self.at("ply", "colliders", "floor.ply"))
        self.assertEqual((len(rows), faces), (4, 2))
        with open(self.at("ply", "colliders.csv")) as file:
            poses = [row for row in csv.DictReader(file) if "paddle" in row["collider"]]
        self.assertEqual(len(poses), 4)
        self.assertAlmostEqual(float(poses[3]["y_m"]), 0.5 * self.times[3])
        self.assertAlmostEqual(abs(float(poses[3]["qy"])), math.sin(math.radians(45 * self.times[3])), 6)

    def test_z_up(self):
        self.repose("export", "out", "--to", "ply", "-o", "ply-z", "--up", "z", "--frames", "2:2")
        self.assertEqual(os.listdir(self.at("ply-z", "colliders")), os.listdir(self.at("ply", "colliders")))
        rows, _, comments = read_ply(self.at("ply-z", "particles.0002.ply"))
        self.same(2, [(r["x"], r["z"], -r["y"]) for r in rows], [(r["vx"], r["vz"], -r["vy"]) for r in rows],
                  [r["id"] for r in rows])
        self.assertTrue(any("z up" in c for c in comments))
        rows, _, _ = read_ply(self.at("ply-z", "colliders", "floor.ply"))
        self.assertTrue(all(abs(r["z"]) < 1e-6 and r["nz"] > 0.99 for r in rows))

    def test_z_up_in_every_format(self):
        for name in "vtp", "csv", "usda":
            self.repose("export", "out", "--to", name, "-o", name + "-z", "--up", "z", "--columns", "strain,stress")
        seen, unturned = said("LOOK", "pvpython", self.script, self.at("vtp-z", "particles.pvd"),
                              self.at("vtp", "particles.pvd"))
        particles, _, colliders = seen["seen"][2]
        turn = [[p[0], p[2], -p[1]] for p in particles["position"]]
        self.same(2, turn, [[v[0], v[2], -v[1]] for v in particles["columns"]["v"]],
                  [i[0] for i in particles["columns"]["id"]])
        self.assertAlmostEqual(max(p[2] for p in colliders["position"]), 0.05 + 0.5 * self.times[2], 5)
        # a tensor turns from both sides: yy and zz change places, so do two of the others
        for name in "strain", "stress":
            for a, b in zip(particles["columns"][name], unturned["seen"][2][0]["columns"][name]):
                self.near(sorted(map(abs, a)), sorted(map(abs, b)), 1e-7)
                self.near(a[:3], (b[0], b[2], b[1]), 1e-7)
        with open(self.at("csv-z", "particles.0003.csv")) as file:
            rows = list(csv.DictReader(file))
        self.same(3, [[float(r["x_m"]), float(r["z_m"]), -float(r["y_m"])] for r in rows],
                  [[float(r["vx_m_s"]), float(r["vz_m_s"]), -float(r["vy_m_s"])] for r in rows], [r["id"] for r in rows])
        if usd_python() is not None:
            stage, = self.usd("usda-z")
            self.assertEqual(stage["up"], "Z")
            frame = stage["frames"]["3"]
            self.same(3, [[p[0], p[2], -p[1]] for p in frame["position"]], [[v[0], v[2], -v[1]] for v in frame["velocity"]],
                      frame["id"])

    def test_colliders_are_where_they_were(self):
        """A mesh at rest and its pose (ply, vdb, csv) make what ParaView shows (vtp)."""
        pvd, = said("LOOK", "pvpython", self.script, self.at("vtp", "particles.pvd"))
        rows, _, _ = read_ply(self.at("ply", "colliders", "collider1_the_paddle.ply"))
        with open(self.at("ply", "colliders.csv")) as file:
            poses = [row for row in csv.DictReader(file) if "paddle" in row["collider"]]
        for i in range(4):
            x, y, z, w = (float(poses[i]["q" + k]) for k in "xyzw")
            turn = ((1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
                    (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
                    (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)))
            want = [tuple(sum(t * r[k] for t, k in zip(line, "xyz")) + float(poses[i][k + "_m"]) for line, k in zip(turn, "xyz"))
                    for r in rows]
            seen = pvd["seen"][i][2]["position"]
            self.assertEqual(len(seen), len(want))
            for p in want:
                self.assertLess(min(max(abs(p[a] - q[a]) for a in range(3)) for q in seen), 1e-5)

    def test_csv(self):
        with open(self.at("csv", "particles.0003.csv")) as file:
            rows = list(csv.DictReader(file))
        self.same(3, [[float(r[k]) for k in ("x_m", "y_m", "z_m")] for r in rows],
                  [[float(r[k]) for k in ("vx_m_s", "vy_m_s", "vz_m_s")] for r in rows], [r["id"] for r in rows])
        self.check_stress(rows)
        self.assertAlmostEqual(sum(float(r["mass_kg"]) for r in rows), 2200 * 0.008, 4)
        with open(self.at("csv", "frames.csv")) as file:
            self.near([float(r["time_s"]) for r in csv.DictReader(file)], self.times, 1e-12)

    def check_stress(self, rows):
        """Cauchy's, of sand as the scene has it, compression negative; and what follows from it."""
        young, poisson, heaviest = 3.537e5, 0.3, 0.0
        lame, mu = young * poisson / ((1 + poisson) * (1 - 2 * poisson)), young / (2 * (1 + poisson))
        for r in rows:
            axes = ("xx", "yy", "zz", "xy", "xz", "yz")
            h = [float(r["strain_%s" % a]) for a in axes]
            trace = sum(h[:3])
            stress = [float(r["stress_%s_Pa" % a]) for a in axes]
            self.near(stress, [(2 * mu * h[k] + (lame * trace if k < 3 else 0)) / math.exp(trace) for k in range(6)], 1e-5)
            self.near([float(r["pressure_Pa"])], [-sum(stress[:3]) / 3], 1e-5)
            self.near([float(r["speed_m_s"])], [math.hypot(*(float(r[k]) for k in ("vx_m_s", "vy_m_s", "vz_m_s")))])
            heaviest = max(heaviest, float(r["pressure_Pa"]))
        self.assertGreater(heaviest, 100)
        smooth = [float(r["smooth_pressure_Pa"]) for r in rows]
        self.assertLess(max(smooth), heaviest)
        self.assertGreater(max(smooth), 0)

    def usd(self, *stages):
        python = usd_python()
        if python is None:
            self.skipTest("no pxr: make usd, or REPOSE_USD_PYTHON=a python that has it")
        script = self.at("usd.py")
        with open(script, "w") as file:
            file.write(USD)
        return said("USD", python, script, *(self.at(name, "run.usda") for name in stages))

    def test_usd(self):
        self.repose("export", "out", "--to", "usda", "-o", "clips", "--clips", "--columns", "volume_gain")
        for stage in self.usd("usda", "clips"):
            self.assertEqual((stage["up"], stage["metres"], stage["fps"], stage["range"]), ("Y", 1.0, 30.0, [0.0, 3.0]))
            self.assertEqual((stage["roots"], stage["wrong"], stage["material"]), (["Run"], [], "/World/Sand/Materials/Particles"))
            for i in range(4):
                frame = stage["frames"][str(i)]
                self.same(i, frame["position"], frame["velocity"], frame["id"])
                self.assertTrue(all(0.018 < w < 0.022 for w in frame["width"]))  # diameters
                self.near(frame["gain"], [x[0] for x in self.truth[i]["columns"]["volume_gain"]])
                self.assertEqual(frame["color"], len(frame["id"]))
            floor, paddle = stage["colliders"]["floor"], stage["colliders"]["collider1_the_paddle"]
            self.assertEqual(floor[:2] + floor[3:], [4, 2, "/World/Sand/Materials/Colliders/floor", False])
            angle = math.radians(90 * self.times[3])
            x, z = 0.05, -0.2
            self.near(paddle[2], (x * math.cos(angle) + z * math.sin(angle), 0.5 * self.times[3],
                                  -x * math.sin(angle) + z * math.cos(angle)), 1e-5)
            self.assertEqual(paddle[:2], [24, 12])  # a box
            self.assertEqual(paddle[3:], ["/World/Sand/Materials/Colliders/collider1_the_paddle", True])

    def test_rigid_bodies_are_where_they_were(self):
        """In all that keeps poses: bodies.csv of the run has them, too."""
        with open(self.at("tumble.lua"), "w") as file:
            file.write(TUMBLE)
        self.repose("run", "tumble.lua", "-o", "tumble", "--quiet")
        for name in "ply", "csv", "usda":
            self.repose("export", "tumble", "--to", name, "-o", "tumble-" + name)
        with open(self.at("tumble", "bodies.csv")) as file:
            truth = list(csv.DictReader(file))
        self.assertEqual(len(truth), 12)
        self.assertGreater(abs(float(truth[10]["qx"])), 0.1)  # it has turned
        with open(self.at("tumble-usda", "run.usda")) as file:
            stage = file.read()
        for body in "brick", "door":
            rows = [row for row in truth if row["name"] == body]
            for name in "ply", "csv":
                with open(self.at("tumble-" + name, "colliders.csv")) as file:
                    poses = [row for row in csv.DictReader(file) if row["collider"] == body]
                self.assertEqual(len(poses), 6)
                for pose, row in zip(poses, rows):
                    for k in "x_m", "y_m", "z_m", "qx", "qy", "qz", "qw":
                        self.assertAlmostEqual(float(pose[k]), float(row[k]), 6)
            mesh = stage[stage.index('def Mesh "%s"' % body):]
            for op, keys in ("translate", ("x_m", "y_m", "z_m")), ("orient", ("qw", "qx", "qy", "qz")):
                samples = mesh[mesh.index("xformOp:%s.timeSamples" % op):]
                for i, row in enumerate(rows):
                    seen = re.search(r"\n *%d: \(([^)]*)\)" % i, samples).group(1).split(",")
                    self.near([float(x) for x in seen], [float(row[k]) for k in keys], 1e-6)

    def test_water_has_a_surface_that_moves_with_it(self):
        """A block of water in free flight: its mesh is closed, as large as it is, and moves as it does."""
        with open(self.at("drop.lua"), "w") as file:
            file.write("scene { dx = 0.025, fps = 10, frames = 1, gravity = {0, 0, 0} }\n"
                       "particles { material = material.water {}, velocity = {0, 0.5, 0}, shape = box { min = {0, 0, 0}, max = {0.2, 0.2, 0.2} } }\n")
        self.repose("run", "drop.lua", "-o", "drop", "--quiet")
        self.repose("export", "drop", "--to", "ply", "--surface", "--up", "z", "-o", "drop-ply")
        for frame, height in (0, 0.1), (1, 0.15):
            with open(self.at("drop-ply", "water.%04d.ply" % frame), "rb") as file:
                data = file.read().partition(b"end_header\n")[2]
            vertices, _, _ = read_ply(self.at("drop-ply", "water.%04d.ply" % frame))
            faces = [struct.unpack_from("<3I", data, len(vertices) * 36 + at + 1) for at in range(0, len(data) - len(vertices) * 36, 13)]
            edges = sorted((f[k], f[(k + 1) % 3]) for f in faces for k in range(3))
            self.assertEqual(edges, sorted((b, a) for a, b in edges))
            x = [(v["x"], v["y"], v["z"]) for v in vertices]
            volume = sum(x[a][0] * (x[b][1] * x[c][2] - x[b][2] * x[c][1]) + x[a][1] * (x[b][2] * x[c][0] - x[b][0] * x[c][2]) +
                         x[a][2] * (x[b][0] * x[c][1] - x[b][1] * x[c][0]) for a, b, c in faces) / 6
            self.assertLess(abs(volume / 0.008 - 1), 0.1)  # its edges are round
            self.assertLess(abs(sum(p[2] for p in x) / len(x) - height), 0.005)
            if frame == 0:
                self.near([sum(v[k] for v in vertices) / len(vertices) for k in ("vx", "vy", "vz")], [0, 0, 0.5], 1e-3)
        self.assertIn("--surface", self.repose("export", "drop", "--to", "csv", "--surface", status=2))
        self.assertIn("has no water", self.repose("export", "out", "--to", "ply", "--surface", "-o", "dry", status=2))

    def chips(self):
        """The run, once; its folder, and particles of the last frame with the names of their bodies."""
        if not os.path.exists(self.at("chips")):
            with open(self.at("chips.lua"), "w") as file:
                file.write(CHIPS)
            self.repose("run", "chips.lua", "-o", "chips", "--quiet")
        self.repose("export", "chips", "--to", "csv", "-o", "chips-all", "--columns", "body", "--frames", "3:3")
        with open(self.at("chips-all", "particles.0003.csv")) as file:
            return [r for r in csv.DictReader(file) if float(r["mass_kg"]) > 0]

    def test_pieces_are_meshes_where_their_particles_are(self):
        """In every format: as ply has them, as poses of meshes at rest, in USD and in ParaView."""
        rows = self.chips()
        for name in "ply", "csv", "usda", "vtp":
            self.repose("export", "chips", "--to", name, "-o", "chips-" + name, "--pieces")
        vertices, faces, _ = read_ply(self.at("chips-ply", "pieces.0003.ply"))
        bodies = {b: [(v["x"], v["y"], v["z"]) for v in vertices if v["body"] == b] for b in range(1, 7)}
        self.assertEqual(sum(map(len, bodies.values())), len(vertices))
        self.assertEqual({(v["red"], v["green"], v["blue"]) for v in vertices}, {(0, 128, 255)})
        for b, corners in bodies.items():  # a convex cell that hardly bends: no particle of it is farther out than a vertex
            own = [[float(r[k]) for k in ("x_m", "y_m", "z_m")] for r in rows if float(r["body"]) == b]
            self.assertGreater(len(own), 300)
            for way in (1, 0, 0), (0, 1, 0), (0, 0, 1), (0.6, 0.8, 0), (0, 0.6, -0.8), (-0.8, 0, 0.6):
                for sign in 1, -1:
                    far = lambda points: max(sign * sum(w * x for w, x in zip(way, p)) for p in points)
                    self.assertLess(far(corners) - far(own), 0.1)  # two spacings, as corners are sharp
                    self.assertLess(far(own) - far(corners), 0.015)
        # only the sand is left of the particles
        sand, _, _ = read_ply(self.at("chips-ply", "particles.0003.ply"))
        self.assertEqual([p["id"] for p in sand], [int(r["id"]) for r in rows if float(r["body"]) == 0])
        # meshes at rest and their poses
        with open(self.at("chips-csv", "pieces.csv")) as file:
            poses = [r for r in csv.DictReader(file) if r["frame"] == "3"]
        self.assertEqual([p["piece"] for p in poses], ["block_%d" % i for i in range(1, 7)])
        for b, pose in zip(bodies, poses):
            rest, _, _ = read_ply(self.at("chips-csv", "pieces", pose["piece"] + ".ply"))
            x, y, z, w = (float(pose["q" + k]) for k in "xyzw")
            turn = ((1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
                    (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
                    (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)))
            self.assertLess(w, 0.999)  # it has turned
            for p, want in zip(rest[::50], bodies[b][::50]):
                self.near([sum(t * p[k] for t, k in zip(line, "xyz")) + float(pose[k + "_m"]) for line, k in zip(turn, "xyz")], want, 1e-5)
        pvd, = said("LOOK", "pvpython", self.script, self.at("chips-vtp", "particles.pvd"))
        self.assertEqual(pvd["seen"][3][1]["cells"], faces)
        for p, v in zip(pvd["seen"][3][1]["position"][::50], vertices[::50]):
            self.near(p, (v["x"], v["y"], v["z"]), 1e-5)
        if usd_python() is not None:
            with open(self.at("shards.py"), "w") as file:
                file.write(SHARDS)
            stage, = said("SHARDS", usd_python(), self.at("shards.py"), self.at("chips-usda", "run.usda"))
            self.assertEqual((stage["wrong"], stage["points"]), ([], [len(sand)] * 4))
            for b, corners in bodies.items():
                seen, triangles, samples, material = stage["block_%d" % b]
                self.assertEqual((samples, material), (0, "/Run/Materials/Pieces/block_%d" % b))  # written once
                self.assertEqual(len(seen[1]), len(corners))
                for p, want in zip(seen[1][::50], corners[::50]):
                    self.near(p, want, 1e-5)
                self.assertGreater(math.dist(seen[0][0], seen[1][0]), 0.01)
            self.assertEqual(sum(stage["block_%d" % b][1] for b in bodies), faces)

    def test_who_has_left_a_piece_stays_a_particle(self):
        rows = self.chips()
        self.repose("export", "chips", "--to", "ply", "-o", "chips-near", "--pieces", "--away", "0.01", "--up", "z")
        with open(self.at("chips-near", "debris.csv")) as file:
            debris = [int(r["id"]) for r in csv.DictReader(file) if r["frame"] == "3"]
        with open(self.at("chips-near", "pieces.csv")) as file:
            poses = [r for r in csv.DictReader(file) if r["frame"] == "3"]
        particles, _, _ = read_ply(self.at("chips-near", "particles.0003.ply"))
        self.assertGreater(len(debris), 10)
        self.assertEqual(sum(int(p["debris"]) for p in poses), len(debris))
        self.assertEqual([p["id"] for p in particles],
                         [int(r["id"]) for r in rows if int(r["id"]) in set(debris) or float(r["body"]) == 0])
        # z is up in meshes, too
        turned, _, _ = read_ply(self.at("chips-near", "pieces.0003.ply"))
        self.repose("export", "chips", "--to", "ply", "-o", "chips-y", "--pieces", "--away", "0.01", "--frames", "3:3")
        upright, _, _ = read_ply(self.at("chips-y", "pieces.0003.ply"))
        for a, b in zip(turned[::50], upright[::50]):
            self.near((a["x"], a["z"], -a["y"], a["nz"]), (b["x"], b["y"], b["z"], b["ny"]), 1e-5)
        self.assertIn("no bodies that may break", self.repose("export", "out", "--to", "usda", "-o", "none", "--pieces", status=2))
        self.assertIn("for --pieces only", self.repose("export", "chips", "--to", "usda", "-o", "none", "--away", "1", status=2))

    def test_usd_between_frames(self):
        """Halfway between two frames every grain is halfway, also where others come and go."""
        with open(self.at("pour.lua"), "w") as file:
            file.write(POUR)
        self.repose("run", "pour.lua", "-o", "pour", "--quiet")
        frames = sorted(glob.glob(self.at("pour", "frames", "frame.*.hdf")))
        truth = [f["seen"][0][0] for f in said("LOOK", "pvpython", self.script, *frames)]
        seen = [{int(i[0]): p for i, p in zip(f["columns"]["id"], f["position"])} for f in map(by_id, truth)]
        self.assertTrue(any(a.keys() - b.keys() and b.keys() - a.keys() for a, b in zip(seen, seen[1:])))
        # the frames themselves are in another order, and hold some that have left
        self.assertTrue(any(f["columns"]["id"] != sorted(f["columns"]["id"]) for f in truth))
        self.assertTrue(any(len(f["position"]) > len(s) for f, s in zip(truth, seen)))
        for clips in [], ["--clips"]:
            self.repose("export", "pour", "--to", "usda", "-o", "pour-usda", "--columns", "volume_gain", *clips)
            stage, = self.usd("pour-usda")
            everybody = sorted(set().union(*seen))
            for half in range(2 * len(seen) - 1):
                frame = stage["frames"]["%g" % (half / 2)]
                self.assertEqual(frame["id"], everybody)
                before, after = seen[half // 2], seen[(half + 1) // 2]
                for i, x, wide in zip(frame["id"], frame["position"], frame["width"]):
                    # who is in one of the two only stands where it is then, at half the size
                    ends = [f[i] for f in (before, after) if i in f]
                    self.assertAlmostEqual(wide, 0.02 * ((i in before) + (i in after)) / 2, 5)
                    if ends:
                        self.assertLess(math.dist(x, [sum(e[a] for e in ends) / len(ends) for a in range(3)]), 0.01 * 0.04)

    def test_which_frames_and_columns(self):
        self.repose("export", "out", "--to", "csv", "-o", "some", "--frames", "1:3", "--every", "2", "--columns", "")
        self.assertEqual(sorted(n for n in os.listdir(self.at("some")) if n.startswith("particles")),
                         ["particles.0001.csv", "particles.0003.csv"])
        with open(self.at("some", "particles.0001.csv")) as file:
            self.assertEqual(file.readline().strip(), "id,x_m,y_m,z_m,vx_m_s,vy_m_s,vz_m_s,radius_m,mass_kg")
        self.assertIn("did you mean 'strain'", self.repose("export", "out", "--to", "csv", "-o", "no", "--columns",
                                                           "strian", status=2))
        self.assertIn("did you mean 'speed'", self.repose("export", "out", "--to", "csv", "-o", "no", "--columns", "sped", status=2))
        self.assertRegex(self.repose("export", "out", "--to", "csv", "-o", "no", "--columns", "qqq", status=2),
                         "no column 'qqq'; there are position .*stress.* speed smooth_pressure")
        self.assertFalse(os.path.exists(self.at("no")), "an export that wrote nothing leaves no folder")
        self.assertIn("want frames from 0 to 3, got 0 to 9",
                      self.repose("export", "out", "--to", "vtp", "-o", "no", "--frames", "0:9", status=2))
        self.assertIn("--to: want vtp", self.repose("export", "out", "--to", "obj", status=2))
        self.assertIn("--to is missing", self.repose("export", "out", status=2))
        self.assertIn("--up", self.repose("export", "out", "--to", "vtp", "--up", "x", status=2))
        # what would do nothing
        self.assertIn("--voxel: for --to vdb only", self.repose("export", "out", "--to", "ply", "-o", "no", "--voxel", "0.1",
                                                                status=2))
        self.assertIn("--clips: for --to usda only", self.repose("export", "out", "--to", "csv", "-o", "no", "--clips", status=2))
        self.assertIn("--columns: not for --to vdb", self.repose("export", "out", "--to", "vdb", "-o", "no", "--columns",
                                                                 "strain", status=2))

    def test_which_frames_in_every_format(self):
        self.repose("export", "out", "--to", "vtp", "-o", "vtp-some", "--frames", "1:3", "--every", "2", "--columns", "")
        for seen in said("LOOK", "pvpython", self.script, self.at("vtp-some", "particles.pvd"),
                         self.at("vtp-some", "particles.vtp.series")):
            self.near(seen["times"], [self.times[1], self.times[3]], 1e-12)
            self.assertEqual(set(seen["seen"][0][0]["columns"]), {"v", "id", "pscale", "Cd"})
        self.repose("export", "out", "--to", "ply", "-o", "ply-some", "--frames", "2:3")
        self.assertEqual(sorted(n for n in os.listdir(self.at("ply-some")) if n.startswith("particles")),
                         ["particles.0002.ply", "particles.0003.ply"])
        if usd_python() is not None:
            self.repose("export", "out", "--to", "usda", "-o", "usda-some", "--frames", "1:2", "--columns", "volume_gain")
            stage, = self.usd("usda-some")
            self.assertEqual((stage["range"], sorted(stage["frames"])), ([1.0, 2.0], ["1", "1.5", "2"]))

    def test_every_format_fails_well(self):
        os.makedirs(self.at("void"), exist_ok=True)
        for name in "torn", "alien":
            shutil.copytree(self.at("out"), self.at(name))
        torn, alien = (self.at(n, "frames", "frame.000002.hdf") for n in ("torn", "alien"))
        os.truncate(torn, os.path.getsize(torn) // 2)
        os.remove(alien)
        subprocess.run(["h5mkgrp", alien, "/group"], check=True)
        os.makedirs(self.at("locked"), exist_ok=True)
        os.chmod(self.at("locked"), 0o555)
        full = "ulimit -f 8; trap '' XFSZ; "  # no file may grow beyond that: a disk without room
        done = subprocess.run([REPOSE, "export", "out", "--to", "vdb", "-o", "vdb-try"], cwd=self.folder.name,
                              capture_output=True, text=True)
        formats = [("vtp",), ("ply",), ("csv",), ("usda",), ("usda", "--clips")]
        for to in formats + [("vdb",)] * (done.returncode == 0):
            with self.subTest(to=to):
                out = "bad-" + "".join(to)
                self.assertIn("no run folder", self.repose("export", "void", "--to", *to, "-o", out, status=4))
                self.assertIn("want frames from 0 to 3", self.repose("export", "out", "--to", *to, "-o", out, "--frames",
                                                                     "2:7", status=2))
                self.assertFalse(os.path.exists(self.at(out)))
                for run in "torn", "alien":
                    self.assertIn(run + "/frames/frame.000002.hdf: no frame of Repose",
                                  self.repose("export", run, "--to", *to, "-o", out, status=4))
                    # whole frames may stay, what ties all together may not come to be
                    left = os.listdir(self.at(out)) if os.path.exists(self.at(out)) else []
                    self.assertFalse([n for n in left if not n.startswith(("particles.0000", "particles.0001"))], left)
                    self.assertFalse([n for n in left if n.endswith(".tmp")], left)
                    shutil.rmtree(self.at(out), ignore_errors=True)
                self.assertIn("cannot write " + out, self.repose("export", "out", "--to", *to, "-o", out, status=4, before=full))
                self.assertFalse(os.path.exists(self.at(out)) and os.listdir(self.at(out)))
                self.assertIn("cannot make locked/x", self.repose("export", "out", "--to", *to, "-o", "locked/x", status=4,
                                                                  user=NOBODY))
                self.assertIn("cannot write locked/", self.repose("export", "out", "--to", *to, "-o", "locked", status=4,
                                                                  user=NOBODY))
                self.assertEqual(os.listdir(self.at("locked")), [])
                # an older export stays whole when a new one finds no room
                self.repose("export", "out", "--to", *to, "-o", out)
                before = {n: os.path.getsize(self.at(out, n)) for n in os.listdir(self.at(out))}
                self.repose("export", "out", "--to", *to, "-o", out, status=4, before=full)
                self.assertEqual({n: os.path.getsize(self.at(out, n)) for n in os.listdir(self.at(out))}, before)

    def test_colours_of_materials(self):
        with open(self.at("blue.lua"), "w") as file:
            file.write("scene { dx = 0.04, frames = 1 }\nparticles { material = material.sand { color = {0, 0, 1} },\n"
                       "            shape = box { min = {0, 0, 0}, max = {0.2, 0.2, 0.2} } }\n")
        self.repose("run", "blue.lua", "-o", "blue", "--quiet")
        self.repose("export", "blue", "--to", "ply", "-o", "blue-ply")
        rows, _, _ = read_ply(self.at("blue-ply", "particles.0000.ply"))
        self.assertEqual({(r["red"], r["green"], r["blue"]) for r in rows}, {(0, 0, 255), (0, 0, 122), (166, 166, 255)})

    def test_a_signal_ends_an_export(self):
        with open(self.at("many.lua"), "w") as file:
            file.write("scene { dx = 0.01, fps = 2000, frames = 5 }\n"
                       "particles { material = material.sand {}, shape = box { min = {0, 0, 0}, max = {0.2, 0.2, 0.2} } }\n")
        self.repose("run", "many.lua", "-o", "many", "--quiet")
        for number in signal.SIGINT, signal.SIGTERM:
            process = subprocess.Popen([REPOSE, "export", "many", "--to", "csv", "-o", "many-csv"], cwd=self.folder.name,
                                       stderr=subprocess.PIPE, text=True)
            for _ in range(3000):
                if os.path.exists(self.at("many-csv", "particles.0001.csv.tmp")):
                    break
                time.sleep(0.002)
            process.send_signal(number)
            words = process.communicate(timeout=60)[1]
            self.assertEqual(process.returncode, 128 + number, words)
            done = re.search("stopped after ([1-5]) of 6 frames; run it again to write all of them", words)
            self.assertIsNotNone(done, words)
            self.assertEqual(sorted(os.listdir(self.at("many-csv"))), ["particles.000%d.csv" % i for i in range(int(done[1]))])
            shutil.rmtree(self.at("many-csv"))

    def test_what_cannot_be_read_or_written(self):
        os.makedirs(self.at("nothing"), exist_ok=True)
        self.assertIn("no run folder", self.repose("export", "nothing", "--to", "vtp", status=4))
        self.assertIn("no run folder", self.repose("export", "nowhere", "--to", "vtp", status=4))
        # a truncated frame: what came before it stays, nothing half-written does
        shutil.copytree(self.at("out"), self.at("cut"))
        path = self.at("cut", "frames", "frame.000002.hdf")
        os.truncate(path, os.path.getsize(path) // 2)
        self.assertIn("frame.000002.hdf", self.repose("export", "cut", "--to", "ply", "-o", "cut-ply", status=4))
        self.assertEqual(sorted(os.listdir(self.at("cut-ply"))), ["particles.0000.ply", "particles.0001.ply"])
        with open(path, "wb") as file:  # somebody else's file
            file.write(b"\x89HDF\r\n\x1a\n" + bytes(2000))
        self.assertIn("frame.000002.hdf", self.repose("export", "cut", "--to", "csv", "-o", "cut-csv", status=4))
        with open(self.at("file"), "w"):
            pass
        self.assertIn("cannot", self.repose("export", "out", "--to", "csv", "-o", "file/in", status=4))


class Volumes(Exports):
    """Debian's Blender."""

    test_vtp_in_paraview = test_ply = test_z_up = test_csv = test_usd = test_usd_between_frames = None
    test_which_frames_and_columns = test_what_cannot_be_read_or_written = test_every_format_fails_well = None
    test_z_up_in_every_format = test_which_frames_in_every_format = test_colliders_are_where_they_were = None
    test_a_signal_ends_an_export = test_colours_of_materials = None
    test_pieces_are_meshes_where_their_particles_are = test_who_has_left_a_piece_stays_a_particle = None

    def test_blender_opens_volumes_points_and_meshes(self):
        done = subprocess.run([REPOSE, "export", "out", "--to", "vdb", "-o", "vdb"], cwd=self.folder.name,
                              capture_output=True, text=True)
        if "which this build lacks" in done.stderr:
            self.assertEqual(done.returncode, 2)
            self.skipTest(done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.chips()
        self.repose("export", "chips", "--to", "ply", "-o", "shards", "--pieces")
        script = self.at("blender.py")
        with open(script, "w") as file:
            file.write(BLENDER)
        seen, = said("BLENDER", "blender", "-b", "--factory-startup", "-P", script, "--", self.folder.name)
        self.assertEqual({name: kind[0] for name, kind in seen["grids"].items()},
                         {"density": "FLOAT", "velocity": "VECTOR_FLOAT", "surface": "FLOAT"})
        self.assertAlmostEqual(seen["voxel"], 0.02, 6)
        self.assertEqual(seen["sequence"], [True, 3])
        truth = self.truth[2]["position"]
        self.assertEqual(len(seen["points"]), len(truth))
        for got, want in zip(seen["points"], truth):
            self.near(got, want)
        self.assertEqual(seen["floor"], [4, 2])
        vertices, faces, _ = read_ply(self.at("shards", "pieces.0003.ply"))
        self.assertEqual((len(seen["shards"][0]), seen["shards"][1]), (len(vertices), faces))
        for got, v in zip(seen["shards"][0][::50], vertices[::50]):
            self.near(got, (v["x"], v["y"], v["z"]), 1e-5)


    def test_numbers_in_volumes(self):
        if subprocess.run(["/usr/bin/python3", "-c", "import pyopenvdb"], capture_output=True).returncode != 0:
            self.skipTest("no pyopenvdb: Debian's python3-openvdb")
        done = subprocess.run([REPOSE, "export", "out", "--to", "vdb", "-o", "vdb2"], cwd=self.folder.name,
                              capture_output=True, text=True)
        if "which this build lacks" in done.stderr:
            self.skipTest(done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)
        script = self.at("vdb.py")
        with open(script, "w") as file:
            file.write(VDB)
        truth = self.truth[1]
        count = len(truth["position"])
        middle = [sum(p[a] for p in truth["position"]) / count for a in range(3)]
        seen, = said("VDB", "/usr/bin/python3", script, self.at("vdb2", "particles.0001.vdb"), *map(str, middle))
        self.assertAlmostEqual(seen["volume"], 0.008, 5)
        self.assertAlmostEqual(seen["about"]["time"], self.times[1], 12)
        self.near(seen["mean"], [sum(v[a] for v in truth["columns"]["velocity"]) / count for a in range(3)], 0.02)
        self.assertLess(seen["inside"], 0.0)
        self.assertGreater(seen["outside"], 0.0)
        # z up, and finer
        self.repose("export", "out", "--to", "vdb", "-o", "vdb3", "--up", "z", "--voxel", "0.01", "--frames", "1:1")
        self.assertEqual(glob.glob(self.at("vdb3", "*.vdb")), [self.at("vdb3", "particles.0001.vdb")])
        turned, = said("VDB", "/usr/bin/python3", script, self.at("vdb3", "particles.0001.vdb"),
                       *map(str, (middle[0], -middle[2], middle[1])))
        self.assertEqual((turned["about"]["up_axis"], seen["about"]["up_axis"]), ("z", "y"))
        self.assertAlmostEqual(turned["voxel"], 0.01, 9)
        self.assertAlmostEqual(turned["volume"], 0.008, 5)
        x, y, z = seen["mean"]
        self.near(turned["mean"], (x, -z, y), 0.02)
        self.assertLess(turned["inside"], 0.0)

    def test_volumes_of_several_species(self):
        """Each material has grids of its own, and marks are in none."""
        if subprocess.run(["/usr/bin/python3", "-c", "import pyopenvdb"], capture_output=True).returncode != 0:
            self.skipTest("no pyopenvdb: Debian's python3-openvdb")
        for name, text in ("splash.lua", SPLASH), ("grids.py", GRIDS):
            with open(self.at(name), "w") as file:
                file.write(text)
        self.repose("run", "splash.lua", "-o", "splash", "--quiet")
        self.repose("export", "splash", "--to", "vdb", "-o", "splash-vdb")
        seen, = said("GRIDS", "/usr/bin/python3", self.at("grids.py"), self.at("splash-vdb", "particles.0002.vdb"))
        self.assertEqual(sorted(seen), ["density", "density_the_ball", "density_water", "surface", "surface_the_ball",
                                        "surface_water", "velocity"])
        for name, volume in ("density", 0.04), ("density_the_ball", 0.008), ("density_water", 0.032):
            self.assertAlmostEqual(seen[name]["volume"], volume, 5)
        self.assertLess(seen["velocity"]["ball"][1], -2.3)  # 2 m/s and 1/24 s of falling
        self.assertGreater(seen["velocity"]["water"][1], -0.6)
        for name, water, ball in ("surface", True, True), ("surface_water", True, False), ("surface_the_ball", False, True):
            self.assertEqual((seen[name]["water"] < 0, seen[name]["ball"] < 0), (water, ball))


def main():
    global REPOSE
    REPOSE = os.path.abspath(sys.argv[1])
    blender = "--blender" in sys.argv
    missing = [p for p in ["pvpython"] + ["blender"] * blender if shutil.which(p) is None]
    if missing:
        print("SKIPPED:", ", ".join(missing), "missing", file=sys.stderr)
        return 1 if CI else SKIPPED
    suite = unittest.TestLoader().loadTestsFromTestCase(Volumes if blender else Exports)
    done = unittest.TextTestRunner(verbosity=2).run(suite)
    return 0 if done.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
