#!/usr/bin/env python3
"""ParaView and HDF5's own tools see in a frame what the world says is in it.

    test_paraview.py MAKE_FRAMES

MAKE_FRAMES is the program that writes the frames and what is in them. Without pvpython or h5dump the
test is skipped, unless CI=true.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SKIPPED = 77
NAMES = "2d_single", "2d_double", "3d_single", "3d_double", "3d_unborn", "3d_empty"

# Runs inside pvpython: one JSON object per file, all numbers as ParaView has them.
LOOK = """
import json, sys
from paraview.simple import OpenDataFile, servermanager

def rows(array):
    return [array.GetTuple(i) for i in range(array.GetNumberOfTuples())]

for path in sys.argv[1:]:
    reader = OpenDataFile(path)
    reader.UpdatePipeline()
    data = servermanager.Fetch(reader)
    points, fields = data.GetPointData(), data.GetFieldData()
    print("FRAME " + json.dumps({
        "points": data.GetNumberOfPoints(), "cells": data.GetNumberOfCells(),
        "types": sorted({data.GetCellType(i) for i in range(data.GetNumberOfCells())}),
        "bounds": data.GetBounds(),
        "position": [data.GetPoint(i) for i in range(data.GetNumberOfPoints())],
        "time": fields.GetArray("TimeValue").GetTuple(0)[0],
        "types_of": {points.GetArrayName(i): points.GetArray(i).GetDataTypeAsString()
                     for i in range(points.GetNumberOfArrays())},
        "columns": {points.GetArrayName(i): rows(points.GetArray(i))
                    for i in range(points.GetNumberOfArrays())}}))
"""

SERIES = """
import sys
from paraview.simple import OpenDataFile
print("TIMES", list(OpenDataFile(sys.argv[1]).TimestepValues))
"""


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, "%s\n%s" % (done.stdout, done.stderr)
    return done.stdout


def read_text(path):
    """Time and columns as the world printed them."""
    columns, time = {}, None
    with open(path) as file:
        for line in file:
            if line.startswith("time"):
                time = float(line.split()[1])
            elif line.startswith("column"):
                columns[line.split()[1]] = rows = []
            else:
                rows.append(tuple(float(x) for x in line.split()))
    return time, columns


class ParaView(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="repose-")
        run(MAKE_FRAMES, cls.folder)
        script = cls.path("look.py")
        with open(script, "w") as file:
            file.write(LOOK)
        lines = run(PVPYTHON, script, *(cls.path(name + ".hdf") for name in NAMES)).splitlines()
        seen = [json.loads(line[6:]) for line in lines if line.startswith("FRAME ")]
        assert len(seen) == len(NAMES), "ParaView did not open all frames"
        cls.seen = dict(zip(NAMES, seen))
        cls.told = {name: read_text(cls.path(name + ".txt")) for name in NAMES}

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder, name)

    def test_every_particle_is_a_point_and_a_vertex(self):
        for name in NAMES:
            seen, count = self.seen[name], len(self.told[name][1]["id"])
            self.assertEqual((seen["points"], seen["cells"]), (count, count), name)
            self.assertEqual(seen["types"], [1] if count else [], name)
        self.assertEqual(self.seen["3d_empty"]["points"], 0)
        self.assertGreater(self.seen["3d_single"]["points"], 1000)

    def test_particles_are_where_they_are(self):
        for name in NAMES:
            told = [(x + (0.0,))[:3] for x in self.told[name][1]["position"]]
            self.assertEqual([tuple(x) for x in self.seen[name]["position"]], told, name)
            for axis in range(3 if told else 0):
                bounds = self.seen[name]["bounds"][2 * axis:2 * axis + 2]
                values = [x[axis] for x in told]
                self.assertEqual(bounds, [min(values), max(values)], name)

    def test_columns_have_the_values_of_the_world(self):
        for name in NAMES:
            seen = self.seen[name]["columns"]
            for column, told in self.told[name][1].items():
                if column != "position" and told:
                    self.assertEqual([tuple(x) for x in seen[column]], told, (name, column))
            if seen:
                self.assertIn("velocity", seen)
                self.assertEqual([x[0] for x in seen["guilty"]],
                                 [float(x[0] in (2, 4)) for x in seen["id"]])
                self.assertEqual({x[0] for x in seen["material"]}, {0.0, 1.0})

    def test_columns_keep_their_types(self):
        for name, real in ("2d_single", "float"), ("3d_double", "double"):
            types = self.seen[name]["types_of"]
            self.assertEqual((types["velocity"], types["strain"]), (real, real))
            self.assertIn("unsigned short", (types["group"], types["material"]))
            self.assertIn("unsigned long", types["id"])

    def test_the_time_is_there(self):
        for name in NAMES:
            self.assertEqual(self.seen[name]["time"], self.told[name][0], name)
        self.assertGreater(self.seen["3d_single"]["time"], 0.02)

    def test_a_series_has_true_times(self):
        # ParaView counts the files of a series unless it is told their times
        with open(self.path("all.hdf.series"), "w") as file:
            json.dump({"file-series-version": "1.0",
                       "files": [{"name": "2d_single.hdf", "time": 0.25},
                                 {"name": "2d_double.hdf", "time": 0.5}]}, file)
        with open(self.path("series.py"), "w") as file:
            file.write(SERIES)
        self.assertIn("TIMES [0.25, 0.5]", run(PVPYTHON, self.path("series.py"),
                                               self.path("all.hdf.series")))

    def test_h5dump_reads_all_and_shows_units(self):
        for name in NAMES:
            frame = self.path(name + ".hdf")
            run(H5DUMP, frame)
            text = run(H5DUMP, "-A", frame)
            datasets = len(re.findall(r"^ *DATASET ", text, re.M))
            self.assertGreater(datasets, 20, name)
            for attribute in "unit", "description":
                self.assertEqual(text.count('ATTRIBUTE "%s" {' % attribute), datasets, name)
            for unit in '"m/s"', '"kg"', '"m^3"', '"1/s"':
                self.assertIn("(0): " + unit, text)
            self.assertIn("dx m; fps 1/s", text)

    def test_h5dump_agrees_on_numbers(self):
        # bytes as they are in the file, without ParaView in between
        for name in "3d_single", "2d_double":
            out = self.path("raw")
            run(H5DUMP, "-d", "/VTKHDF/Points", "-b", "LE", "-o", out, self.path(name + ".hdf"))
            with open(out, "rb") as file:
                numbers = memoryview(file.read()).cast("d").tolist()
            told = [x for row in self.told[name][1]["position"] for x in (row + (0.0,))[:3]]
            self.assertEqual(numbers, told)


if __name__ == "__main__":
    MAKE_FRAMES = sys.argv.pop(1)
    PVPYTHON, H5DUMP = shutil.which("pvpython"), shutil.which("h5dump")
    missing = [name for name, found in (("pvpython", PVPYTHON), ("h5dump", H5DUMP)) if not found]
    if missing:
        print("%s not found: ParaView's view of frames is NOT tested" % " and ".join(missing))
        sys.exit(1 if os.environ.get("CI") == "true" else SKIPPED)
    unittest.main()
