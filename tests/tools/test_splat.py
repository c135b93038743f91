#!/usr/bin/env python3
"""repose-splat shows points where they are, and says what is wrong when it cannot.

The program is named by the environment variable REPOSE_SPLAT or by the first argument.
"""

import math
import os
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

SPLAT = os.environ.get("REPOSE_SPLAT") or (sys.argv.pop(1) if len(sys.argv) > 1 else "repose-splat")


class Picture:
    """An 8-bit RGB PNG: at(x, y) is a pixel, y from the top."""

    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        assert data[:8] == b"\x89PNG\r\n\x1a\n", "not a PNG"
        packed, place, kind = b"", 8, b""
        while kind != b"IEND":
            length, kind = struct.unpack(">I4s", data[place:place + 8])
            body = data[place + 8:place + 8 + length]
            check, = struct.unpack(">I", data[place + 8 + length:place + 12 + length])
            assert check == zlib.crc32(kind + body), "a damaged chunk"
            if kind == b"IHDR":
                self.width, self.height, *form = struct.unpack(">IIBBBBB", body)
                assert form == [8, 2, 0, 0, 0], "not 8-bit RGB"
            elif kind == b"IDAT":
                packed += body
            place += 12 + length
        raw, stride, above = zlib.decompress(packed), 3 * self.width, bytes(3 * self.width)
        self.rows = []
        for y in range(self.height):
            start = y * (stride + 1)
            above = self.unfilter(raw[start], bytearray(raw[start + 1:start + 1 + stride]), above)
            self.rows.append(above)

    @staticmethod
    def unfilter(kind, row, above):
        for i in range(len(row)):
            left = row[i - 3] if i >= 3 else 0
            corner = above[i - 3] if i >= 3 else 0
            if kind == 1:
                guess = left
            elif kind == 2:
                guess = above[i]
            elif kind == 3:
                guess = (left + above[i]) // 2
            elif kind == 4:
                p = left + above[i] - corner
                guess = min((left, above[i], corner), key=lambda c: abs(p - c))
            else:
                guess = 0
            row[i] = (row[i] + guess) & 255
        return row

    def at(self, x, y):
        return tuple(self.rows[int(y)][3 * int(x):3 * int(x) + 3])

    def covered(self):
        """Per row with sand, (y, first, last): ground and backdrop are grey, most grains are not.
        Between two grains of a row there is sand too; so white grains count."""
        spans = []
        for y, row in enumerate(self.rows):
            hits = [x for x in range(self.width) if row[3 * x] - row[3 * x + 2] > 30]
            if hits:
                spans.append((y, hits[0], hits[-1]))
        return spans


def colour_of(pixel):
    """Which of the three grains a lit pixel shows."""
    if max(pixel) - min(pixel) < 40:
        return "white"
    return "brown" if max(pixel) < 170 else "amber"


def sphere(count, radius):
    """Points on a sphere around the origin, evenly."""
    for i in range(count):
        y = 1 - (2 * i + 1) / count
        r, angle = math.sqrt(1 - y * y), i * math.pi * (3 - math.sqrt(5))
        yield radius * r * math.cos(angle), radius * y, radius * r * math.sin(angle)


def as_text(points):
    return "".join(",".join("%.9g" % c for c in p) + "\n" for p in points)


class Test(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.output = self.path("out.png")

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, text, name="points.csv"):
        with open(self.path(name), "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        return self.path(name)

    def run_splat(self, *arguments, **more):
        return subprocess.run([SPLAT, *arguments], capture_output=True, text=True, **more)

    def draw(self, text, *options, **more):
        """The picture of a text with points."""
        done = self.run_splat(self.write(text), "-o", self.output, *options, **more)
        self.assertEqual((done.returncode, done.stderr, done.stdout), (0, "", ""))
        self.assertEqual(sorted(os.listdir(self.folder)), ["out.png", "points.csv"])
        return Picture(self.output)

    def bytes_of(self, text, *options, **more):
        self.draw(text, "--size", "64x48", *options, **more)
        with open(self.output, "rb") as file:
            return file.read()

    # --- where things are ---

    def test_a_sphere_is_round_centred_and_of_the_right_size(self):
        # a wrong focal length, a stretched axis or a shifted centre. Bounds: half a pixel for the centre; the
        # area to 2 %, which is half a pixel at the rim, for the rim is made of grains
        size, radius, grain, distance = (320, 240), 0.5, 0.01, 4.0
        picture = self.draw(as_text(sphere(20000, radius)), "--size", "320x240", "--eye", "0,0,4",
                            "--look", "0,0,0", "--fov", "30", "--radius", "0.01")
        self.assertEqual((picture.width, picture.height), size)
        outer = radius + grain
        focal = size[1] / 2 / math.tan(math.radians(15))
        want = focal * outer / math.sqrt(distance ** 2 - outer ** 2)
        spans = picture.covered()
        area = sum(last - first + 1 for _, first, last in spans)
        x = sum((first + last + 1) / 2 * (last - first + 1) for _, first, last in spans) / area
        y = sum((row + 0.5) * (last - first + 1) for row, first, last in spans) / area
        self.assertAlmostEqual(area / (math.pi * want ** 2), 1, delta=0.02)
        self.assertAlmostEqual(x, size[0] / 2, delta=0.5)
        self.assertAlmostEqual(y, size[1] / 2, delta=0.5)

    def test_the_default_camera_frames_the_points(self):
        # far from the origin, so that a forgotten offset shows. Four fifths of the height, to two pixels
        points = [(x + 70, y - 30, z + 200) for x, y, z in sphere(5000, 3)]
        for options, want in ([], 192), (["--fov", "60"], 192), (["--size", "200x300"], 160):
            picture = self.draw(as_text(points), *(["--size", "320x240"] + options))
            spans = picture.covered()
            top, bottom = spans[0][0], spans[-1][0] + 1
            left, right = min(s[1] for s in spans), max(s[2] for s in spans) + 1
            self.assertAlmostEqual(bottom - top, want, delta=2, msg=options)
            self.assertAlmostEqual(right - left, want, delta=2, msg=options)
            self.assertAlmostEqual(top + bottom, picture.height, delta=2, msg=options)
            self.assertAlmostEqual(left + right, picture.width, delta=2, msg=options)

    GRID = [(x, y, 0) for y in range(-15, 16) for x in range(-20, 21)]

    def grid_colours(self):
        """The colour of each point of GRID, looked up where the point must be in the picture."""
        picture = self.draw(as_text(self.GRID), "--size", "656x496", "--eye", "0,0,100", "--look", "0,0,0",
                            "--fov", "20", "--radius", "0.3")
        focal = picture.height / 2 / math.tan(math.radians(10))
        # a little up and left of a grain's middle, where the light is
        return [colour_of(picture.at(picture.width / 2 + focal * (x - 0.08) / 100,
                                     picture.height / 2 - focal * (y + 0.08) / 100)) for x, y, _ in self.GRID]

    def test_grains_have_three_colours_in_their_shares(self):
        # 1271 grains; the bounds are four standard deviations
        colours = self.grid_colours()
        for colour, share in ("amber", 0.85), ("brown", 0.10), ("white", 0.05):
            bound = 4 * math.sqrt(share * (1 - share) / len(colours))
            self.assertAlmostEqual(colours.count(colour) / len(colours), share, delta=bound, msg=colour)

    def test_nearer_points_hide_farther_ones(self):
        # whichever line comes first in the file; the other points wait behind the camera
        colours = self.grid_colours()
        first_amber, first_white = colours.index("amber"), colours.index("white")
        last_white = len(colours) - 1 - colours[::-1].index("white")
        for near, far in (first_amber, first_white), (first_white, first_amber), (last_white, first_amber):
            points = [(0, 0, 50)] * len(colours)
            points[near], points[far] = (0, 0, 0.5), (0, 0, -0.5)
            picture = self.draw(as_text(points), "--size", "64x48", "--eye", "0,0,5", "--look", "0,0,0",
                                "--radius", "0.3")
            self.assertEqual(colour_of(picture.at(30, 22)), colours[near])

    def test_up_is_up_right_is_right_and_light_comes_from_the_upper_left(self):
        camera = "--size", "240x180", "--eye", "0,0,8", "--look", "0,0,0"
        ball = self.draw("0,0,0\n", *camera, "--radius", "1")
        self.assertGreater(sum(ball.at(102, 72)), 1.3 * sum(ball.at(138, 108)))
        three = self.draw("0,0,0\n1.2,0,0\n0,-1.2,0\n", *camera, "--radius", "0.3")
        self.assertEqual([s[0] for s in three.covered() if s[2] > 140][0] < 90, True)
        self.assertEqual(three.covered()[-1][0] > 120, True)
        self.assertEqual(min(s[1] for s in three.covered()) > 90, True)

    def test_a_ball_throws_its_shadow_to_the_right(self):
        picture = self.draw("0,1,0\n", "--size", "240x180", "--eye", "0,3,12", "--look", "0,0,0",
                            "--radius", "1")
        left, right = picture.at(40, 90), picture.at(160, 88)
        self.assertGreater(sum(left), sum(right) + 60)
        for pixel in left, right, picture.at(5, 5):
            self.assertLess(max(pixel) - min(pixel), 16, "the ground is neutral")

    # --- reading ---

    POINTS = "0,0,0\n0.25,0.5,-0.125\n1,1,1\n"

    def test_comments_blanks_and_line_ends_do_not_matter(self):
        want = self.bytes_of(self.POINTS)
        self.assertEqual(self.bytes_of("# x,y,z\n\n 0 , 0 ,0\r\n\t\n+.25,5e-1,-0.125 \n#\n1,1,1"), want)

    def test_standard_input_is_a_file_too(self):
        want = self.bytes_of(self.POINTS)
        os.remove(self.output)
        done = self.run_splat("-", "-o", self.output, "--size", "64x48", input=self.POINTS)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with open(self.output, "rb") as file:
            self.assertEqual(file.read(), want)

    def test_the_same_points_give_the_same_bytes_in_any_locale(self):
        want = self.bytes_of(self.POINTS)
        for locale in "C", "de_DE.UTF-8", "fr_FR":
            self.assertEqual(self.bytes_of(self.POINTS, env={**os.environ, "LC_ALL": locale}), want)

    def test_two_numbers_are_a_flat_world_seen_from_the_front(self):
        # a square stays as wide as high; seen at an angle it would be narrower by a tenth
        points = [(x / 40, y / 40) for y in range(41) for x in range(41)]
        spans = self.draw(as_text(points), "--size", "320x240").covered()
        width, height = max(s[2] for s in spans) - min(s[1] for s in spans), spans[-1][0] - spans[0][0]
        self.assertAlmostEqual(width / height, 1, delta=0.03)

    def test_odd_clouds_are_drawn(self):
        # one point, all in one place, a line, far away, and so close together that doubles barely tell
        for text in ("1,2,3\n", "1,2,3\n" * 10, "0,0,0\n0,9,0\n0,4,0\n", "1e9,1e9,1e9\n-1e9,0,0\n",
                     "1000000,0,0\n1000000.000000001,0,0\n", "1e-200,0,0\n0,0,0\n"):
            self.assertTrue(self.draw(text, "--size", "80x60").covered(), text)

    def test_odd_cameras_are_no_trouble(self):
        # straight down and up, inside the cloud, under the ground, looking away
        text = as_text(sphere(500, 1))
        for eye, look in ("0,9,0", "0,0,0"), ("0,-9,0", "0,0,0"), ("0,0,0", "1,0,0"), ("0,0,9", "0,0,10"):
            self.draw(text, "--size", "80x60", "--eye", eye, "--look", look)
        self.draw(text, "--size", "80x60", "--look", "0,1,0")
        self.draw(text, "--size", "1x1", "--eye", "5,5,5", "--fov", "150", "--radius", "2")

    # --- what goes wrong ---

    def assert_fails(self, status, sentence, *arguments, **more):
        before = sorted(os.listdir(self.folder))
        done = self.run_splat(*arguments, **more)
        self.assertEqual((done.returncode, done.stdout), (status, ""), done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("repose-splat: "), done.stderr)
        self.assertIn(sentence, done.stderr)
        self.assertEqual(sorted(os.listdir(self.folder)), before, "a file was left behind")

    def assert_refuses(self, text, sentence):
        path = self.write(text)
        self.assert_fails(2, sentence.replace("FILE", path), path, "-o", self.output)

    def test_a_malformed_line_is_named(self):
        for line in ("a,b,c", "x,y,z", "1", "1,2,", "1,2,3,4", "1 2 3", "1,2;3", "1,,3", ",1,2", "1,2,3 m",
                     "1.5.2,0,0"):
            self.assert_refuses("0,0,0\n\n%s\n0,0,0\n" % line,
                                "FILE:3: want x,y,z or x,y in metres, got '%s'" % line)
        self.assert_refuses(b"0,0,0\n1,2,3\0,4\n", "FILE:2: want x,y,z or x,y in metres")
        self.assert_refuses("#\n0,0,0\n1,2\n", "FILE:3: want 3 numbers as in the lines before, got '1,2'")

    def test_a_number_that_is_none_is_named(self):
        for line in "nan,0,0", "0,-inf,0", "0,0,1e999", "0,2e9,0", "NAN,1,2":
            self.assert_refuses("# a\n%s\n" % line, "FILE:2: want finite numbers, up to 1e+09 m, got '%s'" % line)

    def test_no_points_is_an_error(self):
        for text in "", "\n\n", "# x,y,z\n":
            self.assert_refuses(text, "FILE has no points")
        self.assert_fails(2, "standard input has no points", "-", "-o", self.output, input="")
        self.assert_fails(2, "standard input:1: want x,y,z", "-", "-o", self.output, input="hello\n")

    def test_a_file_that_cannot_be_read(self):
        missing = self.path("missing.csv")
        self.assert_fails(4, "cannot read %s: No such file" % missing, missing, "-o", self.output)
        self.assert_fails(4, "cannot read %s: Is a directory" % self.folder, self.folder, "-o", self.output)

    def test_a_picture_that_cannot_be_written(self):
        points = self.write(self.POINTS)
        nowhere = self.path("no/out.png")
        self.assert_fails(4, "cannot write %s.tmp: No such file" % nowhere, points, "-o", nowhere, "--size", "9x9")
        os.makedirs(self.path("folder/inside"))
        self.assert_fails(4, "cannot write %s: " % self.path("folder"), points, "-o", self.path("folder"),
                          "--size", "9x9")

    @unittest.skipUnless(os.path.exists("/dev/full"), "needs /dev/full")
    def test_a_full_disk_leaves_the_old_picture(self):
        # pixels enough that libpng itself meets the end, and so few that only the last flush does
        for size in "300x200", "2x2":
            points = self.write(self.POINTS)
            with open(self.output, "w") as file:
                file.write("old")
            os.symlink("/dev/full", self.output + ".tmp")
            done = self.run_splat(points, "-o", self.output, "--size", size)
            self.assertEqual(done.returncode, 4)
            self.assertRegex(done.stderr, "^repose-splat: cannot write %s: .+\n$" % self.output)
            self.assertEqual(sorted(os.listdir(self.folder)), ["out.png", "points.csv"])
            with open(self.output) as file:
                self.assertEqual(file.read(), "old")

    def test_bad_options_are_named(self):
        points = self.write(self.POINTS)
        good = points, "-o", self.output
        for sentence, *arguments in (
                ("want an input file and -o OUT.png",),
                ("want an input file and -o OUT.png", points),
                ("want an input file and -o OUT.png", "-o", self.output),
                ("want one input file", points, *good),
                ("no option '--szie'", *good, "--szie", "9x9"),
                ("no option '-x'", *good, "-x"),
                ("-o wants a value", points, "-o"),
                ("--fov wants a value", *good, "--fov"),
                ("--fov: want 1 to 150 degrees, got '0'", *good, "--fov", "0"),
                ("--fov: want 1 to 150 degrees, got 'nan'", *good, "--fov", "nan"),
                ("--radius: want 1e-09 to 1e+06 m, got '-1'", *good, "--radius", "-1"),
                ("--radius: want 1e-09 to 1e+06 m, got '0.1m'", *good, "--radius", "0.1m"),
                ("--eye: want x,y,z in metres, got '1,2'", *good, "--eye", "1,2"),
                ("--look: want x,y,z in metres, got '1,2,inf'", *good, "--look", "1,2,inf"),
                ("looks at the same place", *good, "--eye", "1,2,3", "--look", "1,2,3")):
            self.assert_fails(2, sentence, *arguments)
        for size in "9", "9x", "0x9", "9x0", "-9x9", "9x9x9", "9x9 px", "8193x9", "99999x9", "x9", "":
            self.assert_fails(2, "--size: want WIDTHxHEIGHT in pixels, 1 to 8192 each, got '%s'" % size,
                              *good, "--size", size)

    def test_help_names_every_option(self):
        done = self.run_splat("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for option in "FILE", "-o", "--size", "--eye", "--look", "--fov", "--radius", "--help":
            self.assertIn(option, done.stdout)


if __name__ == "__main__":
    unittest.main()
