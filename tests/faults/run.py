#!/usr/bin/env python3
"""Break the code on purpose, one line at a time, and see which test notices.

    tests/faults/run.py              every fault; a table of fault and first tests that failed
    tests/faults/run.py --only FLIP  faults whose name contains a text; may be repeated
    tests/faults/run.py --list       names and files
    --without state,world            leave these unit tests out
    --jobs N                         compile with N processes (default: all processors)
    --keep                           leave the temporary tree behind and say where it is

Works on a copy of the tree with its own build folder. A fault is a piece of text in a source and what to put
in its place; the text must be there exactly once, so that a fault whose line was rewritten is reported and
not skipped. Exit code 1 when a fault survives all unit tests, or cannot be planted.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NEEDED = ["CMakeLists.txt", "CMakePresets.json", "checks", "cmake", "docs", "include", "scenes", "src", "tests", "tools"]

# which tests to ask first; the others follow
FIRST = {
    "src/kernel": ["spline", "transfer"],
    "src/core": ["transfer", "sort", "grid_build", "layout"],
    "src/collide": ["contact", "physics/colliders", "physics/resting"],
    "src/sim": ["foresee", "plan", "physics/resting", "physics/pouring"],
    "src/scene": ["motion", "scene"],
    "src/view": ["view", "view_frames"],
    "src/model": ["elastic", "sand", "material", "transfer"],
}

P2G, G2P = "src/kernel/p2g.c", "src/kernel/g2p.c"
NODES, ARENA = "src/kernel/grid.c", "src/kernel/arena.h"
SPLINE, POSITION, TILE = "src/kernel/spline.h", "src/kernel/position.h", "src/kernel/tile.h"
SORT, SET, BUILD, LAYOUT = "src/core/sort.c", "src/core/set.h", "src/core/grid.c", "src/core/layout.c"
COLLIDER = "src/collide/collider.c"
STEP, PUSH, POUR = "src/sim/step.c", "src/sim/push_out.c", "src/sim/pour.c"
MOTION = "src/scene/motion.c"
SAND, HENCKY = "src/model/sand.c", "src/model/elastic.c"
TRIAL, SERIES = "src/model/hencky.h", "src/model/sym.h"
MESSAGE, GATE, LATTICE = "src/view/message.c", "src/view/gate.c", "src/view/lattice.c"
FRAMES = "src/view/frames.c"

# (file, old, new, name)
FAULTS = [
    # particles to grid
    (P2G, "push = vset((real)(-job->dt /", "push = vset((real)(job->dt /", "stress pushes instead of pulling"),
    (P2G, "m * cell * vload(C + (i * DIM + j) * RP_LANES", "m * cell * vload(C + (j * DIM + i) * RP_LANES",
     "C transposed in P2G"),
    (P2G, "m * cell * vload(C +", "m * vload(C +", "C not scaled by the cell in P2G"),
    (P2G, "row_axpy(wy.n[j], P, row_axpy(wx.n[i], S[j], cell->r[i][j]))",
     "row_axpy(wy.n[j], P, row_axpy(wx.n[j], S[j], cell->r[i][j]))",
     "weights of two axes mixed up in P2G"),
    (P2G, "fill_quads(job, slot, &g, tau, &s, affine, IMPULSE, &t);",
     "fill_quads(job, slot, &g, tau, &s, affine, MOMENTUM | IMPULSE, &t);",
     "momentum scattered into both channels"),
    (P2G, "for (rp_local first = 0; first < page->count; first += RP_LANES)",
     "for (rp_local first = 0; first + RP_LANES <= page->count; first += RP_LANES)",
     "last tile of a page left out in P2G"),
    # grid to particles
    (G2P, "vstore(&increment[i * DIM + j][l], dvi * dt);", "vstore(&increment[j * DIM + i][l], dvi * dt);",
     "gradient transposed in G2P"),
    (G2P, "vstore(C + (i * DIM + j) * RP_LANES + l,", "vstore(C + (j * DIM + i) * RP_LANES + l,",
     "C transposed in G2P"),
    (G2P, "(SPLINE_INERTIA_INVERSE * per_cell)", "per_cell", "inverse of D missing"),
    (G2P, "job->transfer == RP_APIC ? affine : vset(0)", "affine", "PIC keeps an affine matrix"),
    (G2P, "(rp_local)page->near[n]);", "(rp_local)page->near[RP_NEAR - 1 - n]);",
     "wrong neighbour copied in G2P"),
    (G2P, "now = vfma(vset(flip), kept - vi, vi);", "now = vfma(vset(1 - flip), kept - vi, vi);",
     "share of FLIP the other way round"),
    (G2P, "vload(&in[VALUE * RP_QUAD + 3][l]) * volume", "vload(&in[VALUE * RP_QUAD + 3][l])", "density not divided by the cell"),
    (G2P, "most->bad |= ~calm;", "", "runaways not reported"),
    (G2P, "part[c][l] = g->law[l] == law ? after[c][l] : part[c][l];", "part[c][l] = after[c][l];",
     "a law overwrites another's lanes"),
    (G2P, "step, ids, step_hash, i);", "step, ids, 1u, i);", "the same dither in every step"),
    (G2P, "step, ids, step_hash, i);", "step, ids, step_hash, 0);", "the same dither along every axis"),
    # nodes
    (NODES, "rp_near_offset(RP_NEAR - 1 - n, offset);", "rp_near_offset(n, offset);",
     "neighbours' arenas added on the wrong side"),
    (NODES, "if (m > least) {", "if (m >= 0) {", "no least mass of a node"),
    (NODES, "before[i] = now[i] - before[i];", "before[i] = before[i] - now[i];", "change is old minus new"),
    (NODES, "q[a] = before + (real)push[a];", "q[a] = before + (real)push[a] * inverse;",
     "gravity divided by mass"),
    (ARENA, "offset[a] * block[a] + 1;", "offset[a] * block[a];", "arena begins at its page"),
    (ARENA, "arena[a] - first < block[a] ? arena[a] - first : block[a]",
     "arena[a] - first < block[a] ? arena[a] - first - 1 : block[a]", "last row of an arena forgotten"),
    # splines and positions
    (SPLINE, "s.d[1] = g - f;", "s.d[1] = f - g;", "quadratic slope of the wrong sign"),
    (SPLINE, "s.d[1] = vfma(vset(R(1.5)), f, vset(-2)) * f;", "s.d[1] = vfma(vset(R(1.5)), f, vset(-1)) * f;",
     "cubic slope with a wrong coefficient"),
    (SPLINE, "vset(R(2.0) / 3)", "vset(R(5.0) / 8)", "cubic weights that still sum to one"),
    (SPLINE, "vset(R(0.5) * (3 - RP_ORDER)) - f", "vset(R(0.5) * (2 - RP_ORDER)) - f", "distance to the nodes off by half a cell"),
    (SPLINE, "(RP_ORDER == 3 ? R(3.0) : R(4.0))", "(RP_ORDER == 3 ? R(4.0) : R(3.0))", "D of the other order"),
    (POSITION, " + dither(id, step_hash, axis)", "", "no dither"),
    (TILE, "(size_t)group[l] * RP_GROUP_REALS", "(size_t)group[0] * RP_GROUP_REALS",
     "a tile's lanes all take the first group"),
    # pages
    (SORT, "*(const uint32_t *)at - ((uint32_t)cells << RP_FIXED_BITS)", "*(const uint32_t *)at + 0 * (uint32_t)cells",
     "position not counted from the new page (single)"),
    (SORT, "*(double *)out = *(const double *)at - cells;", "*(double *)out = *(const double *)at;",
     "position not counted from the new page (double)"),
    (SORT, "return a >= 0 ? a / b : -((-a + b - 1) / b);", "return a / b;", "blocks below zero rounded up"),
    (SET, "#define RP_TRAVEL_LIMIT 0.999", "#define RP_TRAVEL_LIMIT 1.0", "no margin before a sort"),
    (BUILD, "(size_t)(RP_NEAR - 1 - n)]", "(size_t)n]", "near list mirrored wrongly"),
    (LAYOUT, "block[a] = (block[a] % l->period[a] + l->period[a]) % l->period[a];",
     "block[a] = block[a] % l->period[a];", "periodic blocks below zero not wrapped"),
    # walls
    (COLLIDER, "1.0 - bite / slip : 0.0", "1.0 + bite / slip : 0.0", "friction speeds up"),
    (COLLIDER, "slip > bite ? 1.0 - bite / slip : 0.0", "slip > 0.0 ? 1.0 - bite / slip : 0.0", "friction reverses the slip"),
    (COLLIDER, "push = vn < least ? least - vn : 0.0;", "push = least - vn;", "a separating wall never lets go"),
    (COLLIDER, "phi > 0.0 ? -phi / dt : 0.0", "phi > 0.0 ? -INFINITY : 0.0", "nodes pass a wall within a step"),
    (COLLIDER, "ON_WALL = 1e-9;", "ON_WALL = 0.0;", "a floor on a grid line left to rounding"),
    (COLLIDER, "l->h * (sqrt(reach2) + 2.0)", "l->h * (sqrt(reach2) - 4.0)", "blocks near a wall left out"),
    (COLLIDER, "arm[b] * lost[d] - arm[d] * lost[b]", "arm[b] * lost[d] + arm[d] * lost[b]", "torque on a collider mirrored"),
    (COLLIDER, "rotate(parent->rotation, own->position, out.position);", "memcpy(out.position, own->position, sizeof out.position);",
     "a child does not turn with its parent"),
    (COLLIDER, "velocity[a] = (there[a] + c->end.position[a] - x[a]) / dt;", "velocity[a] = (c->end.position[a] - c->begin.position[a]) / dt;",
     "a turning wall does not drag"),
    (STEP, "if (!(way > cell)) {", "if (true) {", "colliders jump over particles"),
    (STEP, "const double floor = least / 64.0;", "const double floor = 0.0;", "a leap stops the run"),
    (PUSH, "return -DEPTH * world->def.dx - phi;", "return -9.0 * world->def.dx - phi;", "sand stays inside walls"),
    (PUSH, "fmin(sunk, STRIDE * world->def.dx)", "fmin(sunk, 99.0 * STRIDE * world->def.dx)", "sand is put back from any depth at once"),
    (POUR, "due > now || due >= e->stop", "due > now || due > e->stop + 1.0", "an emitter does not stop"),
    (POUR, "fmin(fmax(x[a], world->domain.lower[a]), world->domain.upper[a])", "x[a]", "the border does not keep what it holds"),
    (MOTION, "(begin * r - end * s)", "(begin * r + end * s)", "key frames leave with the wrong speed"),
    (MOTION, "if (!(before * after > 0.0)) {", "if (false) {", "key frames overshoot"),
    # laws
    (SERIES, "enum { TERMS = RP_REAL_BITS == 32 ? 4 : 8 };", "enum { TERMS = RP_REAL_BITS == 32 ? 3 : 8 };",
     "the shortest exponential series a term too short"),
    (SERIES, "enum { TERMS = RP_REAL_BITS == 32 ? 5 : 12 };", "enum { TERMS = RP_REAL_BITS == 32 ? 4 : 12 };",
     "the shortest logarithmic series a term too short"),
    (SAND, "trace + gain;", "trace - gain;", "volume gain with the wrong sign"),
    (SAND, "vselect(apart, t - tip, nothing)", "vselect(apart, tip - t, nothing)",
     "volume correction as printed, new minus trial"),
    (SAND, "const ivec apart = ~inside & (", "const ivec apart = (", "case II asked before case I"),
    (SAND, "radius / shear", "one - radius / shear", "the plastic part of the deviator kept"),
    (SAND, "vselect(hardens, q + step, q)", "vselect(hardens, q - step, q)", "flow softens instead of hardening"),
    (HENCKY, "tau.c[k] += pressure;", "tau.c[k] -= pressure;", "pressure with the wrong sign"),
    (TRIAL, "(const real *)tile->increment + RP_LANES * k + lane",
     "(const real *)tile->increment + RP_LANES * (k % DIM * DIM + k / DIM) + lane",
     "increment transposed in the law"),
    # what the server of the live page lets in, and how it packs numbers
    (MESSAGE, "json_object_size(object) == keys\n", "json_object_size(object) >= keys\n",
     "a message may have other keys"),
    (MESSAGE, "if (size > RP_MESSAGE_BYTES) {", "if (size > 2 * RP_MESSAGE_BYTES) {",
     "messages longer than allowed"),
    (MESSAGE, "json_loadb(text, size, JSON_REJECT_DUPLICATES, &error)", "json_loadb(text, size, 0, &error)",
     "a key of a message twice"),
    (MESSAGE, "|| !is_name(name, \"\")) {", ") {", "any name for a param of a started run"),
    (MESSAGE, "!is_name(json_string_value(value), \".\")) {", "false) {", "any text for the name of a column"),
    (MESSAGE, "json_integer_value(value) < 0 ||", "", "frames before the first"),
    (GATE, "return strcmp(end, want) == 0 ||", "return strncmp(end, want, strlen(want)) == 0 ||",
     "a port that begins like ours"),
    (GATE, "return !gate->loopback && name[0]", "return name[0]", "names of the machine on the loopback"),
    (GATE, "(is_address(name) || strcasecmp(name, gate->machine) == 0)", "(is_address(name) || name[0] != '[')",
     "any host with --listen"),
    (GATE, "strcasecmp(origin + sizeof http - 1, host) == 0 &&", "strncasecmp(origin + sizeof http - 1, host, strlen(host)) == 0 &&",
     "an origin that begins like ours"),
    (GATE, "(unsigned char)(length != RP_VIEW_TOKEN)", "0", "a token with something behind it"),
    (GATE, "(inner[length] == '/' || strcmp(outer, \"/\") == 0)", "true", "the folder itself lies in the folder"),
    (LATTICE, "floor(low / (STEP * unit)) * (STEP * unit)", "low", "a lattice that moves with the sand"),
    (LATTICE, "place > -0.5 && place", "place", "codes of what lies below a lattice"),
    (LATTICE, "(uint16_t)(place + 0.5)", "(uint16_t)place", "codes rounded down"),
    (LATTICE, "const int64_t size = count - first < RP_BLOCK ? count - first : RP_BLOCK;", "const int64_t size = count - first < RP_BLOCK ? 0 : RP_BLOCK;",
     "the last block never changes"),
    (GATE, "same(gate->pass, at + length", "same(gate->token, at + length", "the token in a cookie"),
    (FRAMES, "away > 4.0 * wide", "away > 1e30 * wide", "grains that flew off make a lattice coarse"),
    (FRAMES, "const size_t at = changed[i] * block;", "const size_t at = (size_t)i * block;",
     "blocks that are sent are not those that changed"),
]


def run(command, **more):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)


def read(path):
    with open(path) as f:
        return f.read()


def write(path, text):
    with open(path, "w") as f:
        f.write(text)


class Tree:
    """A copy of the sources with a build folder beside it."""

    def __init__(self, folder, jobs, without):
        self.without = without
        self.source = os.path.join(folder, "source")
        self.build = os.path.join(folder, "build")
        self.jobs = str(jobs)
        os.mkdir(self.source)
        for name in NEEDED:
            at, to = os.path.join(ROOT, name), os.path.join(self.source, name)
            if os.path.isdir(at):
                shutil.copytree(at, to)
            else:
                shutil.copy2(at, to)

    def configure(self):
        # little optimisation: compiling takes longer than testing
        return run(["cmake", "-G", "Ninja", "-S", self.source, "-B", self.build, "-DREPOSE_APPS=OFF",
                    "-DREPOSE_ISAS=plain;avx2", "-DREPOSE_WERROR=OFF", "-DCMAKE_C_COMPILER=gcc",
                    "-DCMAKE_BUILD_TYPE=None", "-DCMAKE_C_FLAGS=-O1 -w"])

    def compile(self):
        return run(["ninja", "-C", self.build, "-j", self.jobs, "unit_tests", "physics_colliders", "physics_resting",
                    "physics_pouring"])

    def programs(self, path):
        """Unit tests, those that are about this file's folder first, some of them physics."""
        found = sorted(f[len("test_"):] for f in os.listdir(os.path.join(self.build, "tests", "unit")))
        first = [name for name in FIRST.get(os.path.dirname(path), []) if name in found or "/" in name]
        return [name for name in first + [f for f in found if f not in first] if name not in self.without]

    def failures(self, path):
        """The first program that fails and its tests that do, or None."""
        for name in self.programs(path):
            folder, _, test = name.rpartition("/")
            program = os.path.join(self.build, "tests", folder or "unit", "test_" + test)
            try:
                done = run([program], timeout=600, env=dict(os.environ, OMP_WAIT_POLICY="passive"))
            except subprocess.TimeoutExpired:
                return name, ["does not end"]
            if done.returncode not in (0, 77):
                failed = re.findall(r"^FAIL (\w+)", done.stdout, re.M)
                return name, failed or ["ends with code %d" % done.returncode]
        return None


def plant(tree, fault):
    """Put the fault in; returns the file and its text without the fault, or what is wrong."""
    path, old, new, _ = fault
    at = os.path.join(tree.source, path)
    text = read(at)
    if text.count(old) != 1:
        return None, "its text is there %d times in %s" % (text.count(old), path)
    write(at, text.replace(old, new))
    return (at, text), None


def try_fault(tree, fault):
    """What came of it: ("caught", test), ("survived", "") or ("broken", why)."""
    planted, wrong = plant(tree, fault)
    if wrong:
        return "broken", wrong
    at, text = planted
    try:
        built = tree.compile()
        if built.returncode != 0:
            return "broken", "does not compile: " + built.stdout[-300:].replace("\n", " ")
        noticed = tree.failures(fault[0])
        if noticed is None:
            return "survived", ""
        name, tests = noticed
        return "caught", "%s: %s%s" % (name, ", ".join(tests[:2]), " and %d more" % (len(tests) - 2) if len(tests) > 2 else "")
    finally:
        write(at, text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", action="append", help="faults whose name contains this; may be repeated")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--without", default="", help="unit tests to leave out, such as state,world")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--keep", action="store_true")
    args = parser.parse_args()
    faults = [f for f in FAULTS if not args.only or any(text in f[3] for text in args.only)]
    if args.list:
        for path, _, _, name in faults:
            print("%-50s %s" % (name, path))
        return 0
    if not faults:
        print("no fault has such a name")
        return 1

    folder = tempfile.mkdtemp(prefix="repose-faults-")
    try:
        tree = Tree(folder, args.jobs, args.without.split(","))
        for step in (tree.configure, tree.compile):
            done = step()
            if done.returncode != 0:
                print(done.stdout[-3000:])
                return 1
        healthy = tree.failures(faults[0][0])
        if healthy is not None:
            print("without any fault, %s fails: %s" % (healthy[0], ", ".join(healthy[1])))
            return 1

        count = {"caught": 0, "survived": 0, "broken": 0}
        for fault in faults:
            began = time.time()
            outcome, what = try_fault(tree, fault)
            count[outcome] += 1
            print("%-52s %s  [%d s]" % (fault[3], what if outcome == "caught" else "%s %s" % (outcome.upper(), what),
                                        time.time() - began), flush=True)
        print("%(caught)d faults caught, %(survived)d survived, %(broken)d could not be planted" % count)
        return 0 if count["survived"] == count["broken"] == 0 else 1
    finally:
        if args.keep:
            print("left in", folder)
        else:
            shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())
