#include "scene/words.h"

#include <math.h>
#include <pthread.h>
#include <repose/base.h>
#include <repose/method.h>
#include <stdio.h>
#include <string.h>

// clang-format off
#define ANY           {-INFINITY, INFINITY, true, true}
#define POSITIVE      {0.0, INFINITY, true, true}
#define NOT_NEGATIVE  {0.0, INFINITY, false, true}
#define CLOSED(a, b)  {(a), (b), false, false}
#define OPEN(a, b)    {(a), (b), true, true}
#define FROM_BELOW(a, b) {(a), (b), false, true} // a is in, b is out
#define UP_TO(a, b)   {(a), (b), true, false}    // a is out, b is in
#define CHOICES(...)  (const char *const[]){__VA_ARGS__, NULL}
#define KEYS(array)   .key = (array), .keys = sizeof(array) / sizeof((array)[0])

// Forms: tables inside words ---------------------------------------------------------------------------

static const scene_key transfer_keys[] = {
    {"flip", TAKES_NUMBER, .range = CLOSED(0, 1), .otherwise = "0.95", .not_with = "steady",
     .sentence = "Share of the particles' own velocity that is kept in a step; the rest is PIC. Steps decide how much is lost "
                 "in a second, and there is no affine part: a body that turns stops within seconds."},
    {"steady", TAKES_NUMBER, "s", POSITIVE, .absent = "the root of `dx` over gravity", .not_with = "flip",
     .sentence = "With the transfer \"steady\": the time in which what nodes cannot hold of the particles' velocity fades."},
};
static const scene_word transfer_form = {"transfer", WORD_FORM, KEYS(transfer_keys)};

static const scene_key rotation_keys[] = {
    {"axis", TAKES_VECTOR3, NULL, ANY, .otherwise = "{0, 0, 1}",
     .sentence = "Through the origin, of any length but 0; in 2D only the default makes sense."},
    {"angle", TAKES_NUMBER, "degrees", ANY, .sentence = "Counter-clockwise when the axis points at you."},
};
static const scene_word rotation_form = {"rotation", WORD_FORM, KEYS(rotation_keys)};

static const scene_key pose_keys[] = {
    {"position", TAKES_VECTOR, "m", ANY, .otherwise = "{0, 0, 0}",
     .sentence = "How far the shape is from where it was described."},
    {"rotation", TAKES_TABLE, .form = &rotation_form, .absent = "not turned",
     .sentence = "How it is turned about the origin, or the `pivot`, before it is moved."},
};
static const scene_word pose_form = {"pose", WORD_FORM, KEYS(pose_keys)};

static const scene_key spin_keys[] = {
    {"axis", TAKES_VECTOR3, NULL, ANY, .otherwise = "{0, 0, 1}",
     .sentence = "Of any length but 0; in 2D only the default makes sense."},
    {"rate", TAKES_NUMBER, "degrees/s", ANY, .sentence = "Counter-clockwise when the axis points at you."},
    {"center", TAKES_VECTOR, "m", ANY, .absent = "the `pivot`", .sentence = "A point that the axis goes through."},
};
static const scene_word spin_form = {"spin", WORD_FORM, KEYS(spin_keys)};

static const scene_key key_frame_keys[] = {
    {"time", TAKES_NUMBER, "s", CLOSED(-1e9, 1e9), .sentence = "When it is there; later than the one before."},
    {"position", TAKES_VECTOR, "m", ANY, .otherwise = "{0, 0, 0}",
     .sentence = "How far the shape is from where it was described."},
    {"rotation", TAKES_TABLE, .form = &rotation_form, .absent = "not turned",
     .sentence = "How it is turned about the origin, or the `pivot`, before it is moved. Between two key frames the axis times the "
                 "angle changes: from 0 to 720 degrees it turns twice."},
};
static const scene_word key_frame_form = {"keys", WORD_FORM, KEYS(key_frame_keys)};

// Words ------------------------------------------------------------------------------------------------

static const scene_key param_keys[] = {
    {"name", TAKES_STRING, .sentence = "What `--set` calls it: letters, digits and `_`."},
    {"default", TAKES_NUMBER | TAKES_BOOLEAN | TAKES_STRING | TAKES_STRINGS, .range = ANY,
     .sentence = "The value when nobody sets another; one that is set must be of the same type. A list of strings is a "
                 "choice: the first is the default, and one that is set must be in the list."},
    {"note", TAKES_STRING, .otherwise = "\"\"", .sentence = "A unit or a remark, shown in messages."},
};

static const scene_key scene_keys[] = {
    {"title", TAKES_STRING, .absent = "the name of the file", .sentence = "What pictures and tables call the scene; at most 127 bytes."},
    {"method", TAKES_STRING, .otherwise = "\"explicit\"",
     .sentence = "How time is stepped; docs/methods.md says what each can do."},
    {"dimension", TAKES_INTEGER, NULL, CLOSED(2, 3), .otherwise = "3",
     .sentence = "2 is a slice one metre thick (plane strain)."},
    {"precision", TAKES_CHOICE, .choices = CHOICES("single", "double"), .otherwise = "\"single\"",
     .sentence = "Of the numbers that particles carry; double is for exactness checks."},
    {"dx", TAKES_NUMBER, "m", POSITIVE, .sentence = "Grid spacing: details smaller than a few of these are lost."},
    {"fps", TAKES_NUMBER, "1/s", CLOSED(1e-9, 1e12), .otherwise = "24", .sentence = "Frames per second of simulated time."},
    {"frames", TAKES_INTEGER, NULL, CLOSED(1, 10000000), .sentence = "How many frames the run has."},
    {"up", TAKES_CHOICE, .choices = CHOICES("y", "z"), .otherwise = "\"y\"",
     .sentence = "The axis that points up: gravity, axes of shapes, pictures, measurements and exports follow. In 2D only y."},
    {"gravity", TAKES_VECTOR | TAKES_FUNCTION, "m/s^2", ANY, .arguments = "t", .absent = "9.81 downwards",
     .sentence = "Constant, or a function of the time in seconds, for a box that tilts."},
    {"acceleration", TAKES_FUNCTION, "m/s^2", ANY, .arguments = "t, x, y, z", .absent = "none",
     .sentence = "Added to gravity, from place to place: a wind, a vortex. It is asked at every node in every step, which takes time."},
    {"settle", TAKES_NUMBER, "s", NOT_NEGATIVE, .otherwise = "0",
     .sentence = "Before the first frame, let all find its rest for so long: strongly damped, with gravity and colliders as "
                 "they are at the start, and without emitters. Then velocities are set to 0, and time begins."},
    {"order", TAKES_CHOICE, .choices = CHOICES("linear", "quadratic", "cubic"), .otherwise = "\"quadratic\"",
     .sentence = "Of the splines between particles and grid; cubic is smoother and slower. Sand refuses linear ones, whose forces "
                 "jump from cell to cell."},
    {"transfer", TAKES_CHOICE | TAKES_TABLE, .choices = CHOICES("apic", "pic", "steady"), .form = &transfer_form,
     .otherwise = "\"apic\"",
     .sentence = "How velocity travels between particles and grid. \"apic\" keeps rotation and smooths shear a little in every step, "
                 "so that short steps flow less; \"pic\" is syrupy; \"steady\" loses in proportion to time, whatever the step, and "
                 "flows more freely, but layers near the angle of friction rest less well with it. FLIP has a share."},
    {"gradient", TAKES_CHOICE, .choices = CHOICES("spline", "affine"), .otherwise = "\"spline\"",
     .sentence = "How stress becomes force and velocity strain: by the splines' derivatives, or by the affine field that "
                 "fits best, which is faster."},
    {"cfl", TAKES_NUMBER, "cells", UP_TO(0, 1), .otherwise = "1",
     .sentence = "How far the fastest particle may go in a step."},
    {"elastic_share", TAKES_NUMBER, NULL, UP_TO(0, 10), .otherwise = "0.8",
     .sentence = "Of the longest step that is stable for elastic waves; more than 1 may blow up. 0.8 is right for sand that "
                 "flows; 0.4, about what the collapses of `repose validate` take, for numbers and for sand that is about to flow "
                 "(docs/validate.md)."},
    {"energy_limit", TAKES_NUMBER, NULL, NOT_NEGATIVE, .otherwise = "10",
     .sentence = "The run stops when particles have more than so many times the energy that they had and that gravity, emitters, "
                 "colliders and bodies brought in: it blows up. More than twice as much is a warning. 0: never, and no warning."},
    {"dt_max", TAKES_NUMBER, "s", POSITIVE, .absent = "no bound of its own", .sentence = "The longest step."},
    {"seed", TAKES_INTEGER, NULL, CLOSED(0, 9007199254740992.0), .otherwise = "0",
     .sentence = "Of everything random; another seed gives another, equally good pile."},
};

static const scene_key domain_keys[] = {
    {"min", TAKES_VECTOR, "m", ANY, .sentence = "Lower corner; 0 along periodic axes."},
    {"max", TAKES_VECTOR, "m", ANY,
     .sentence = "Upper corner; along periodic axes a multiple of 8 `dx` (4 `dx` along z) above the lower."},
    {"periodic", TAKES_AXES, .otherwise = "{false, false, false}",
     .sentence = "Along which axes what leaves on one side comes in on the other. Colliders do not repeat: let them end at the "
                 "border or go on beyond it."},
    {"leave", TAKES_CHOICE, .choices = CHOICES("stop", "remove", "clamp"), .otherwise = "\"stop\"",
     .sentence = "What becomes of a particle that crosses another side: the run stops and names it, it is removed and "
                 "counted, or it is put back onto the border and counted."},
};

static const scene_key camera_keys[] = {
    {"eye", TAKES_VECTOR3, "m", ANY, .sentence = "Where the camera is."},
    {"look_at", TAKES_VECTOR3, "m", ANY, .sentence = "What is in the middle of the picture."},
    {"fov", TAKES_NUMBER, "degrees", OPEN(0, 180), .otherwise = "30", .sentence = "Field of view, from bottom to top."},
};

#define COLUMN_NAME(id, name, ...) name,
static const char *const column_names[] = {RP_COLUMNS(COLUMN_NAME) RP_DERIVED_COLUMNS(COLUMN_NAME) NULL};

static const scene_key output_keys[] = {
    {"state", TAKES_CHOICE, .choices = CHOICES("all", "latest"), .otherwise = "\"all\"",
     .sentence = "Which frames keep what only a restart needs: all, or just the newest ones, which saves disk."},
    {"columns", TAKES_STRINGS, .choices = column_names, .absent = "all", .not_with = "state",
     .sentence = "What frames keep besides position, id, group, material and species. Stress is Cauchy's (docs/frames.md). A run cannot go "
                 "on from such frames: it keeps its newest state in `state.hdf` and resumes from that."},
    {"energy", TAKES_BOOLEAN, .otherwise = "false",
     .sentence = "Keep account of where energy goes, in more columns of `stats.csv`. Steps take longer."},
};

static const scene_key half_space_keys[] = {
    {"point", TAKES_VECTOR, "m", ANY, .sentence = "Any point of the surface."},
    {"normal", TAKES_VECTOR, NULL, ANY, .sentence = "Points out of the solid, of any length but 0."},
};

static const scene_key sphere_keys[] = {
    {"center", TAKES_VECTOR, "m", ANY, .sentence = "Its middle."},
    {"radius", TAKES_NUMBER, "m", POSITIVE, .sentence = "Its radius."},
};

static const scene_key box_keys[] = {
    {"min", TAKES_VECTOR, "m", ANY, .sentence = "Lower corner."},
    {"max", TAKES_VECTOR, "m", ANY, .sentence = "Upper corner, above the lower along every axis."},
    {"round", TAKES_NUMBER, "m", NOT_NEGATIVE, .otherwise = "0",
     .sentence = "Radius of its edges and corners, at most half the shortest side. The box keeps its size."},
};

static const scene_key capsule_keys[] = {
    {"a", TAKES_VECTOR, "m", ANY, .sentence = "One end of the line in its middle."},
    {"b", TAKES_VECTOR, "m", ANY, .sentence = "The other end."},
    {"radius", TAKES_NUMBER, "m", POSITIVE, .sentence = "How far it reaches from that line."},
};

#define AXIS(sentence_) \
    {"axis", TAKES_VECTOR, NULL, ANY, .absent = "upwards", .sentence = sentence_ ", of any length but 0."}

static const scene_key cylinder_keys[] = {
    {"base", TAKES_VECTOR, "m", ANY, .sentence = "Middle of the lower face."},
    {"radius", TAKES_NUMBER, "m", POSITIVE, .sentence = "Its radius."},
    {"height", TAKES_NUMBER, "m", POSITIVE, .sentence = "From face to face."},
    AXIS("Points from the lower face to the upper"),
};

static const scene_key cone_keys[] = {
    {"base", TAKES_VECTOR, "m", ANY, .sentence = "Middle of the face."},
    {"radius", TAKES_NUMBER, "m", POSITIVE, .sentence = "Of the face."},
    {"height", TAKES_NUMBER, "m", POSITIVE, .sentence = "From the face to the tip."},
    AXIS("Points from the face to the tip"),
};

static const scene_key torus_keys[] = {
    {"center", TAKES_VECTOR, "m", ANY, .sentence = "Its middle."},
    {"major", TAKES_NUMBER, "m", POSITIVE, .sentence = "From there to the middle of the tube."},
    {"minor", TAKES_NUMBER, "m", POSITIVE, .sentence = "Radius of the tube, at most `major`."},
    AXIS("Points through the hole"),
};

static const scene_key ellipsoid_keys[] = {
    {"center", TAKES_VECTOR, "m", ANY, .sentence = "Its middle."},
    {"radii", TAKES_VECTOR, "m", POSITIVE, .sentence = "Half its size along each axis."},
};

static const scene_key revolve_keys[] = {
    {"base", TAKES_VECTOR, "m", ANY, .otherwise = "{0, 0, 0}", .sentence = "Where the axis has height 0."},
    AXIS("What the profile is turned about"),
    {"profile", TAKES_POINTS, "m", ANY,
     .sentence = "Points `{r, y}` of a line: distance from the axis, at least 0, and height along it. "
                 "One that ends where it began makes a ring."},
    {"thickness", TAKES_NUMBER, "m", POSITIVE, .absent = "solid between the line and the axis",
     .sentence = "Makes a shell around the line, with round ends, such as the glass of an hourglass."},
    {"round", TAKES_NUMBER, "m", NOT_NEGATIVE, .otherwise = "0",
     .sentence = "Radius of arcs in place of the corners of the line; there must be room for them."},
};

static const scene_key height_field_keys[] = {
    {"min", TAKES_VECTOR, "m", ANY, .sentence = "Least x and z; y is the height of black. Where z is up, y and z change places, here "
                 "and below."},
    {"max", TAKES_VECTOR, "m", ANY,
     .sentence = "Greatest x and z; y is the height of white. For a function, the two heights are not looked at."},
    {"height", TAKES_FUNCTION, "m", .arguments = "x, z", .absent = "comes from `file`", .not_with = "file",
     .sentence = "Gives the height at a place, in 2D at x alone. It is asked when the scene is read."},
    {"spacing", TAKES_NUMBER, "m", POSITIVE, .absent = "`dx` of the scene", .not_with = "file",
     .sentence = "Between the places where the function is asked, about."},
    {"file", TAKES_STRING, .absent = "comes from `height`", .not_with = "height spacing",
     .sentence = "A grey PNG of 8 or 16 bits, in the folder of the scene: a height per pixel, as seen from above, x to "
                 "the right and z down (where z is up, y up). In 2D, one that is one pixel high."},
};

static const scene_key shapes_keys[] = {
    {"shapes", TAKES_SHAPES, .sentence = "One or more."},
};

static const scene_key subtract_keys[] = {
    {"shape", TAKES_SHAPE, .sentence = "What is taken from."},
    {"others", TAKES_SHAPES, .sentence = "What is taken away, one or more."},
};

static const scene_key offset_keys[] = {
    {"shape", TAKES_SHAPE, .sentence = "Any shape."},
    {"distance", TAKES_NUMBER, "m", ANY, .sentence = "How far its surface moves outwards; inwards when it is negative."},
};

static const scene_key invert_keys[] = {
    {"shape", TAKES_SHAPE, .sentence = "Any shape."},
};

static const scene_key place_keys[] = {
    {"position", TAKES_VECTOR, "m", ANY, .otherwise = "{0, 0, 0}", .sentence = "Where the origin goes."},
    {"rotation", TAKES_TABLE, .form = &rotation_form, .absent = "not turned",
     .sentence = "How it is turned about the origin, before it is moved."},
    {"scale", TAKES_NUMBER, NULL, POSITIVE, .otherwise = "1",
     .sentence = "How much larger it becomes, seen from the origin, before all else."},
};
static const scene_word place_form = {"move", WORD_FORM, KEYS(place_keys)};

static const scene_key move_keys[] = {
    {"shape", TAKES_SHAPE, .sentence = "Any shape."},
    {"place", TAKES_TABLE, .form = &place_form, .sentence = "Where it goes."},
};

static const scene_key mesh_sequence_keys[] = {
    {"files", TAKES_STRING, .sentence = "Their names, from the folder of the scene: OBJ, STL, PLY or GLB. `%d` in it, once, stands for the number of each, "
                 "and `%04d` for one of four digits; one file alone needs none. All must have the same triangles."},
    {"first", TAKES_INTEGER, NULL, CLOSED(0, 1e9), .otherwise = "0", .sentence = "Number of the first file."},
    {"last", TAKES_INTEGER, NULL, CLOSED(0, 1e9), .sentence = "Number of the last file."},
    {"fps", TAKES_NUMBER, "1/s", POSITIVE, .otherwise = "24", .sentence = "Files in a second; between them vertices go straight on."},
    {"start", TAKES_NUMBER, "s", ANY, .otherwise = "0", .sentence = "When it is as in the first file. Before that it does not move."},
    {"loop", TAKES_BOOLEAN, .otherwise = "false", .sentence = "Whether the first file follows on the last; otherwise it stays as in the last."},
    {"thickness", TAKES_NUMBER, "m", POSITIVE, .absent = "solid within the surface",
     .sentence = "Of a sheet, half of it to either side of the surface, which may then be open."},
    {"scale", TAKES_NUMBER, NULL, POSITIVE, .otherwise = "1", .sentence = "Metres in a unit of the files."},
    {"up", TAKES_CHOICE, .choices = CHOICES("y", "z"), .absent = "that of the scene",
     .sentence = "The axis that points up in the files; they are turned about x to where the scene has it."},
};

static const scene_key mesh_keys[] = {
    {"file", TAKES_STRING, .sentence = "An OBJ, STL, PLY or glTF file, from the folder of the scene."},
    {"scale", TAKES_NUMBER, NULL, POSITIVE, .otherwise = "1", .sentence = "Metres in a unit of the file."},
    {"up", TAKES_CHOICE, .choices = CHOICES("y", "z"), .absent = "that of the scene",
     .sentence = "The axis that points up in the file; it is turned about x to where the scene has it."},
    {"resolution", TAKES_NUMBER, "m", POSITIVE, .absent = "a quarter of its thickness, at most `dx`",
     .sentence = "Cell of the field of distances that the mesh is turned into; smaller details are lost. Chosen by where "
                 "the mesh is thin, and never finer than a quarter of `dx`."},
    {"repair", TAKES_BOOLEAN, .otherwise = "false",
     .sentence = "Weld, turn and fill what is not a closed surface, instead of refusing it. A sheet gets a lid and is solid then; as a `mesh_sequence` of one file it gets a `thickness` instead."},
};

static const scene_key particles_keys[] = {
    {"material", TAKES_MATERIAL, .sentence = "What they are made of."},
    {"shape", TAKES_SHAPE, .sentence = "The region to fill."},
    {"per_cell", TAKES_INTEGER, NULL, CLOSED(1, 4096), .absent = "8, in 2D 4", .not_with = "spacing",
     .sentence = "Particles in a grid cell."},
    {"spacing", TAKES_NUMBER, "m", POSITIVE, .absent = "follows from `per_cell`", .not_with = "per_cell",
     .sentence = "Distance between particles, on average."},
    {"sampling", TAKES_CHOICE, .choices = CHOICES("poisson", "lattice"), .otherwise = "\"poisson\"",
     .sentence = "Poisson: particles keep their distance from each other and follow no direction; lattice: in rows."},
    {"jitter", TAKES_NUMBER, NULL, CLOSED(0, 1), .otherwise = "0.5",
     .sentence = "Only with a lattice, which 0 keeps perfect; 1 moves particles by up to half a spacing to either side."},
    {"velocity", TAKES_VECTOR | TAKES_FUNCTION, "m/s", ANY, .arguments = "x, y, z", .otherwise = "{0, 0, 0}",
     .sentence = "At the start; a function is called for every particle."},
    {"velocity_gradient", TAKES_MATRIX, "1/s", ANY, .absent = "none",
     .sentence = "Rows of d v_i / d x_j: `velocity` is then that at the origin."},
    {"body", TAKES_STRING, .otherwise = "\"rest\"",
     .sentence = "Name of the body that they are part of. Each has a velocity of its own, and bodies slide on and part from each "
                 "other (`contact`); particles of one body stick together, whatever they are made of. At most 63 bytes."},
    {"within", TAKES_MATERIAL, .absent = "the whole shape is theirs",
     .sentence = "The sand whose pores they fill: of the shape, they take the share that its `porosity` says. Only water, with `method = \"mixture\"`."},
    {"prestress", TAKES_CHOICE, .choices = CHOICES("none", "k0"), .otherwise = "\"none\"",
     .sentence = "k0: particles start with the pressure of what lies above them in the shape, and sideways with that of a "
                 "layer that cannot spread, so that sand between walls starts at rest."},
};

static const scene_key contact_keys[] = {
    {"bodies", TAKES_STRINGS, .absent = "all pairs that nothing else is said of",
     .sentence = "Names of two, in any order; `rest` is all that has no name."},
    {"friction", TAKES_NUMBER, NULL, NOT_NEGATIVE, .otherwise = "0",
     .sentence = "Coulomb coefficient. Only where things slide: not with sticky contact."},
    {"contact", TAKES_CHOICE, .choices = CHOICES("separate", "sticky"), .otherwise = "\"separate\"",
     .sentence = "Separate: they slide and lift off; sticky: what touches moves along."},
    {"normals", TAKES_CHOICE, .choices = CHOICES("auto", "paper", "difference", "regression"), .otherwise = "\"auto\"",
     .sentence = "Where the surface between them points: by the faces of solid bodies, whose particles know how deep they are, and by masses where there "
                 "is none (auto); by the difference of their gradients of mass; by the plane that separates their particles best; paper is as "
                 "Wretborn prints it."},
    {"gap", TAKES_BOOLEAN, .otherwise = "true",
     .sentence = "Touch when their surfaces meet; without it as soon as both have mass at a node, a cell or two too early."},
    {"impulses", TAKES_CHOICE, .choices = CHOICES("exact", "pairs"), .otherwise = "\"exact\"", .not_with = "bodies",
     .sentence = "Where three and more meet: all at once, or pair after pair as Wretborn prints it, for comparison."},
};

static const scene_key cut_keys[] = {
    {"point", TAKES_VECTOR, "m", ANY, .sentence = "Any point of the cut."},
    {"normal", TAKES_VECTOR, NULL, ANY, .sentence = "Across the cut, of any length but 0."},
};
static const scene_key cuts_keys[] = {
    {"point", TAKES_VECTOR, "m", ANY, .sentence = "Any point of the cut."},
    {"normal", TAKES_VECTOR, NULL, ANY, .sentence = "Across the cut, of any length but 0."},
    {"strength", TAKES_NUMBER | TAKES_RANGE, "Pa", POSITIVE, .absent = "that of `fracture`", .sentence = "Of this cut."},
};
static const scene_word cut_form = {"planes", WORD_FORM, KEYS(cuts_keys)};

static const scene_key planes_keys[] = {
    {"list", TAKES_TABLES, .form = &cut_form, .sentence = "Up to 30 planes; each goes through the whole body."},
};

static const scene_key zigzag_keys[] = {
    {"point", TAKES_VECTOR, "m", ANY, .sentence = "A point of the plane in the middle of the teeth, below the tip of one."},
    {"normal", TAKES_VECTOR, NULL, ANY, .sentence = "Across that plane, of any length but 0."},
    {"tooth", TAKES_NUMBER, "m", POSITIVE, .sentence = "How high a tooth is, from its foot to its tip. Its flanks stand at 45 degrees."},
    {"along", TAKES_VECTOR, NULL, ANY, .sentence = "Where tooth follows tooth: any direction that is not the normal."},
};

static const scene_key voronoi_keys[] = {
    {"count", TAKES_INTEGER, NULL, CLOSED(2, 4096), .absent = "as many as `points`", .not_with = "points",
     .sentence = "How many pieces: so many sites are placed in the body by `seed`, well apart."},
    {"points", TAKES_PLACES, "m", ANY, .absent = "placed by `count`", .not_with = "count",
     .sentence = "The sites themselves."},
    {"seed", TAKES_INTEGER, NULL, CLOSED(0, 9007199254740992.0), .otherwise = "0", .not_with = "points",
     .sentence = "Another one gives other pieces."},
};

static const scene_key fracture_keys[] = {
    {"body", TAKES_STRING, .sentence = "The body that breaks, as `particles.body` names it. Its pieces are bodies of their own, `NAME.1` and so on; "
                 "in `contact`, the name of the body means all of them."},
    {"by", TAKES_CUT | TAKES_SHAPE, .sentence = "What it is cut by: `plane`, `planes`, `zigzag`, `voronoi`, or a shape, whose inside is a piece."},
    {"strength", TAKES_NUMBER | TAKES_RANGE, "Pa", POSITIVE,
     .sentence = "Tension across a cut at which it opens; `{least, most}`: drawn evenly for each particle of glue. "
                 "With `criterion = \"paper\"` a force in N."},
    {"shear", TAKES_NUMBER, "Pa", POSITIVE, .absent = "`strength`",
     .sentence = "Stress along a cut at which it opens. Where strengths are drawn, at the middle one; others follow in proportion."},
    {"friction", TAKES_NUMBER, NULL, NOT_NEGATIVE, .otherwise = "0",
     .sentence = "How much pressure across a cut adds to `shear`. What has opened rubs as `contact` says."},
    {"softening", TAKES_NUMBER, "m", POSITIVE, .absent = "cuts break at once",
     .sentence = "How far a cut opens or slides until nothing is left of its strength, which falls in proportion: that takes half of `strength` "
                 "times `softening` in J/m^2 (2D: of a slice one metre thick)."},
    {"open", TAKES_SHAPE, .absent = "glued all over", .sentence = "Where cuts are open from the start."},
    {"criterion", TAKES_CHOICE, .choices = CHOICES("traction", "paper"), .otherwise = "\"traction\"",
     .sentence = "By stress; or, for comparison, by the force between nodes as Wretborn (2017) has it, mended, which depends on `dx`."},
    {"spacing", TAKES_NUMBER, "m", POSITIVE, .absent = "half of `dx`", .sentence = "Between particles of glue, at most half of `dx`."},
    {"seed", TAKES_INTEGER, NULL, CLOSED(0, 9007199254740992.0), .otherwise = "0", .sentence = "Of strengths that are drawn."},
};

static const scene_key collider_keys[] = {
    {"shape", TAKES_SHAPE, .sentence = "Solid inside, and best at least 4 `dx` thick: through less, sand on one side feels sand on the other. Let walls "
                 "reach into the floor, or grains slip through the joint."},
    {"contact", TAKES_CHOICE, .choices = CHOICES("sticky", "slip", "separate"), .otherwise = "\"sticky\"",
     .sentence = "Sticky: what touches it moves with it; slip: slides along and never lifts off; separate: may lift off."},
    {"friction", TAKES_NUMBER, NULL, NOT_NEGATIVE, .otherwise = "0",
     .sentence = "Coulomb coefficient. Only where things slide: not with sticky contact."},
    {"permeable", TAKES_BOOLEAN, .otherwise = "false",
     .sentence = "A filter: water passes it, sand does not, and sand that starts within is held. Only with `method = \"mixture\"`."},
    {"motion", TAKES_FUNCTION, .form = &pose_form, .arguments = "t", .absent = "stays where it is",
     .sentence = "Gives the pose at a time in seconds."},
    {"velocity", TAKES_VECTOR, "m/s", ANY, .otherwise = "{0, 0, 0}", .not_with = "motion",
     .sentence = "Moves evenly, instead of `motion`."},
    {"spin", TAKES_TABLE, .form = &spin_form, .absent = "does not turn", .not_with = "motion",
     .sentence = "Turns evenly, instead of `motion`; the centre goes along with `velocity`."},
    {"keys", TAKES_TABLES, .form = &key_frame_form, .absent = "none", .not_with = "motion velocity spin",
     .sentence = "Key frames, instead of `motion`: where it is at some times, two or more. It stands still before the "
                 "first and after the last."},
    {"between", TAKES_CHOICE, .choices = CHOICES("smooth", "linear"), .otherwise = "\"smooth\"",
     .sentence = "How it goes from one of its `keys` to the next: smooth sets off and stops gently and never "
                 "overshoots; linear keeps its speed."},
    {"pivot", TAKES_VECTOR, "m", ANY, .otherwise = "{0, 0, 0}",
     .sentence = "The point that it turns about, in `motion`, `keys` and `spin` (unless that has a `center`), where the shape was described: "
                 "a turn leaves it where it is, and `position` moves it."},
    {"attach", TAKES_STRING, .absent = "to nothing",
     .sentence = "Name of an earlier collider that it goes along with; its own motion is then within that one's frame."},
    {"name", TAKES_STRING, .absent = "its number", .sentence = "For messages and frames; at most 63 bytes."},
    {"look", TAKES_CHOICE, .choices = CHOICES("solid", "glass", "hidden"), .otherwise = "\"solid\"",
     .sentence = "How pictures show it: solid, clear as glass, or not at all."},
    {"color", TAKES_VECTOR3, NULL, {0.0, 1.0, false, false}, .otherwise = "{0.62, 0.64, 0.66}",
     .sentence = "Of a solid one in pictures: red, green and blue, each 0 to 1 as in sRGB."},
};

static const scene_key turn_keys[] = {
    {"axis", TAKES_VECTOR3, NULL, ANY, .otherwise = "{0, 0, 1}",
     .sentence = "Of any length but 0; in 2D only the default makes sense."},
    {"rate", TAKES_NUMBER, "degrees/s", ANY, .sentence = "Counter-clockwise when the axis points at you."},
};
static const scene_word turn_form = {"spin", WORD_FORM, KEYS(turn_keys)};

static const scene_key rigid_keys[] = {
    {"shape", TAKES_SHAPE, .sentence = "Solid inside, where it is at the start. Any shape with a volume: mass, centre and inertia are found from it. Best "
                 "at least 4 `dx` thick."},
    {"density", TAKES_NUMBER, "kg/m^3", POSITIVE, .absent = "from `mass`", .not_with = "mass",
     .sentence = "Of all of it; this or `mass` must be given."},
    {"mass", TAKES_NUMBER, "kg", POSITIVE, .absent = "from `density`", .sentence = "Of all of it; in 2D per metre."},
    {"velocity", TAKES_VECTOR, "m/s", ANY, .otherwise = "{0, 0, 0}", .sentence = "Of its centre of mass, at the start."},
    {"spin", TAKES_TABLE, .form = &turn_form, .absent = "does not turn", .sentence = "About its centre of mass, at the start."},
    {"contact", TAKES_CHOICE, .choices = CHOICES("sticky", "slip", "separate"), .otherwise = "\"separate\"",
     .sentence = "Of particles with it, as a collider's."},
    {"friction", TAKES_NUMBER, NULL, NOT_NEGATIVE, .otherwise = "0.5",
     .sentence = "Coulomb coefficient, of particles and of other bodies."},
    {"restitution", TAKES_NUMBER, NULL, CLOSED(0, 1), .otherwise = "0",
     .sentence = "How much of the speed of a hit on another body or a collider comes back; particles have none."},
    {"force", TAKES_VECTOR | TAKES_FUNCTION, "N", ANY, .arguments = "t", .otherwise = "{0, 0, 0}",
     .sentence = "Acts at its centre of mass, besides gravity: constant, or a function of the time. In 2D per metre."},
    {"torque", TAKES_VECTOR3 | TAKES_FUNCTION, "N m", ANY, .arguments = "t", .otherwise = "{0, 0, 0}",
     .sentence = "Acts on it, too. Always three numbers; in 2D the third counts."},
    {"name", TAKES_STRING, .absent = "its number", .sentence = "For messages, tables and joints; at most 63 bytes. No collider may have the same."},
    {"look", TAKES_CHOICE, .choices = CHOICES("solid", "glass", "hidden"), .otherwise = "\"solid\"",
     .sentence = "How pictures show it: solid, clear as glass, or not at all."},
    {"color", TAKES_VECTOR3, NULL, {0.0, 1.0, false, false}, .otherwise = "{0.62, 0.64, 0.66}",
     .sentence = "Of a solid one in pictures: red, green and blue, each 0 to 1 as in sRGB."},
};

static const scene_key range_keys[] = {
    {"min", TAKES_NUMBER, "degrees or m", ANY, .absent = "without end", .sentence = "The lower end, 0 or less."},
    {"max", TAKES_NUMBER, "degrees or m", ANY, .absent = "without end", .sentence = "The upper end, 0 or more."},
};
static const scene_word range_form = {"range", WORD_FORM, KEYS(range_keys)};

static const scene_key joint_keys[] = {
    {"kind", TAKES_CHOICE, .choices = CHOICES("fixed", "hinge", "slider"), .otherwise = "\"fixed\"",
     .sentence = "As if they were one; turns about an axis; slides along an axis."},
    {"a", TAKES_STRING, .sentence = "Name of a rigid body, or of a collider if `b` is a rigid body."},
    {"b", TAKES_STRING, .absent = "the world", .sentence = "What `a` is joined to: the name of a rigid body or a collider."},
    {"at", TAKES_VECTOR, "m", ANY, .sentence = "Where it is at the start."},
    {"axis", TAKES_VECTOR3, NULL, ANY, .otherwise = "{0, 0, 1}",
     .sentence = "Of a hinge or a slider, of any length but 0. In 2D a hinge has the default, and a slider one in the plane."},
    {"range", TAKES_TABLE, .form = &range_form, .absent = "without end",
     .sentence = "How far `a` may turn or slide against `b`, from how it is at the start: degrees of a hinge, metres of a slider."},
    {"speed", TAKES_NUMBER | TAKES_FUNCTION, "degrees/s or m/s", ANY, .arguments = "t", .absent = "no motor",
     .sentence = "A motor turns or slides `a` against `b`, this fast; a function of the time returns a number. 0 is a brake."},
    {"strength", TAKES_NUMBER, "N m or N", POSITIVE, .absent = "as much as it takes",
     .sentence = "The most torque or force that the motor has. In 2D per metre."},
    {"name", TAKES_STRING, .absent = "its number", .sentence = "For messages; at most 63 bytes."},
};

static const scene_key emitter_keys[] = {
    {"material", TAKES_MATERIAL, .sentence = "What it pours."},
    {"shape", TAKES_SHAPE,
     .sentence = "The mouth: layers have the cross-section of its middle, across the velocity."},
    {"velocity", TAKES_VECTOR, "m/s", ANY,
     .sentence = "With which layers leave; not 0. It turns with a mouth that turns, and what the mouth moves with comes on top."},
    {"rate", TAKES_NUMBER, "kg/s", POSITIVE, .absent = "as much as the velocity brings",
     .sentence = "How much it pours; more than the velocity can bring is refused. In 2D per metre."},
    {"volume", TAKES_NUMBER, "m^3", POSITIVE, .absent = "without end", .sentence = "How much in all, to the nearest layer."},
    {"start", TAKES_NUMBER, "s", NOT_NEGATIVE, .otherwise = "0", .sentence = "When it begins."},
    {"stop", TAKES_NUMBER, "s", POSITIVE, .absent = "never", .sentence = "When it ends."},
    {"spacing", TAKES_NUMBER, "m", POSITIVE, .absent = "half a `dx`",
     .sentence = "Distance between particles, and between layers at full rate."},
    {"body", TAKES_STRING, .otherwise = "\"rest\"", .sentence = "Name of the body that it adds to, as of `particles`."},
    {"attach", TAKES_STRING, .absent = "to nothing",
     .sentence = "Name of a collider or rigid body that the mouth goes along with; `shape` is where it is at the start, and "
                 "motion of its own is within that one's frame."},
    {"motion", TAKES_FUNCTION, .form = &pose_form, .arguments = "t", .absent = "stays where it is",
     .sentence = "Gives the pose of the mouth at a time in seconds."},
    {"mouth_velocity", TAKES_VECTOR, "m/s", ANY, .otherwise = "{0, 0, 0}", .not_with = "motion",
     .sentence = "The mouth moves evenly, instead of `motion`."},
    {"spin", TAKES_TABLE, .form = &spin_form, .absent = "does not turn", .not_with = "motion",
     .sentence = "The mouth turns evenly, instead of `motion`; the centre goes along with `mouth_velocity`."},
    {"keys", TAKES_TABLES, .form = &key_frame_form, .absent = "none", .not_with = "motion mouth_velocity spin",
     .sentence = "Key frames of the mouth, as of a collider."},
    {"between", TAKES_CHOICE, .choices = CHOICES("smooth", "linear"), .otherwise = "\"smooth\"",
     .sentence = "How it goes from one of its `keys` to the next."},
    {"pivot", TAKES_VECTOR, "m", ANY, .otherwise = "{0, 0, 0}", .sentence = "The point that the mouth turns about, as of a collider."},
    {"name", TAKES_STRING, .absent = "its number", .sentence = "For messages; at most 63 bytes."},
};

static const scene_key sink_keys[] = {
    {"shape", TAKES_SHAPE, .sentence = "Particles inside vanish; `stats.csv` counts them."},
};

static const scene_key plane_keys[] = {
    {"point", TAKES_VECTOR, "m", ANY, .sentence = "Any point of it; the middle of the part that counts, where there is a `radius`."},
    {"normal", TAKES_VECTOR, NULL, ANY, .sentence = "Of any length but 0; what crosses the plane along it counts as more, what comes back as less."},
};
static const scene_word plane_form = {"plane", WORD_FORM, KEYS(plane_keys)};

static const scene_key probe_keys[] = {
    {"name", TAKES_STRING, .absent = "its number", .sentence = "In `probes.csv`: letters, digits and `_`, 31 at most."},
    {"point", TAKES_VECTOR, "m", ANY, .absent = "none", .not_with = "plane particle",
     .sentence = "Mean velocity, density, stress and pressure of what is around a point."},
    {"plane", TAKES_TABLE, .form = &plane_form, .absent = "none", .not_with = "point particle",
     .sentence = "Mass that crosses a plane in a second, and all that has."},
    {"particle", TAKES_INTEGER, NULL, CLOSED(0, 9007199254740992.0), .absent = "none", .not_with = "point plane",
     .sentence = "Place, velocity, density, stress and pressure of the particle with this id: ids are counted from 0 in the order "
                 "of the scene, and the live page shows them."},
    {"radius", TAKES_NUMBER, "m", POSITIVE, .absent = "2 `dx`; of a plane, no end", .not_with = "particle",
     .sentence = "How far a point looks along each axis, or how much of a plane counts."},
    {"every", TAKES_NUMBER, "s", POSITIVE, .absent = "after every step",
     .sentence = "Simulated time between readings. They are taken at the end of the first step that reaches it, and with the time of that: "
                 "steps are not cut for them."},
};

// Examples: each is a whole scene, and a test runs it --------------------------------------------------

#define GROUND "collider { shape = half_space { point = {0, 0, 0}, normal = {0, 1, 0} } }\n"

static const char param_example[] =
    "local angle = param(\"friction_angle\", 35, \"degrees\")   -- repose run … --set friction_angle=30\n"
    "local size = param(\"size\", {\"quick\", \"fine\"})          -- … --set size=fine\n"
    "scene { dx = size == \"fine\" and 0.01 or 0.02, frames = 48 }\n"
    "local sand = material.sand { friction_angle = angle }\n"
    "particles { material = sand, shape = box { min = {0, 0, 0}, max = {0.2, 0.2, 0.2} } }\n" GROUND;

static const char scene_example[] =
    "scene {\n"
    "    title = \"A tilting slice\", dimension = 2, dx = 0.01, fps = 48, frames = 96,\n"
    "    gravity = function(t)\n"
    "        local a = math.rad(math.min(30, 20 * t))\n"
    "        return -9.81 * math.sin(a), -9.81 * math.cos(a)\n"
    "    end,\n"
    "}\n"
    "particles { material = material.sand {}, shape = box { min = {0, 0}, max = {0.3, 0.1} } }\n"
    "collider { shape = half_space { point = {0, 0}, normal = {0, 1} } }\n";

static const char domain_example[] =
    "scene { dx = 0.0125, frames = 48 }\n"
    "domain { min = {0, 0, 0}, max = {0.1, 1, 0.1}, periodic = {true, false, true} }   -- an endless layer\n"
    "particles { material = material.sand {}, shape = box { min = {0, 0, 0}, max = {0.1, 0.2, 0.1} } }\n" GROUND;

static const char camera_example[] =
    "scene { dx = 0.02, frames = 24 }\n"
    "camera { eye = {1, 0.6, 1.5}, look_at = {0, 0.1, 0}, fov = 25 }\n"
    "particles { material = material.sand {}, shape = sphere { center = {0, 0.3, 0}, radius = 0.1 } }\n" GROUND;

static const char output_example[] =
    "scene { dx = 0.02, frames = 1000 }\n"
    "output { columns = {\"velocity\", \"stress\", \"pressure\"} }   -- small frames; state = \"latest\" makes small ones too\n"
    "particles { material = material.sand {}, shape = sphere { center = {0, 0.3, 0}, radius = 0.1 } }\n" GROUND;

static const char half_space_example[] =
    "scene { dx = 0.02, frames = 24 }\n"
    "local slope = half_space { point = {0, 0, 0}, normal = {0.3, 1, 0} }\n"
    "collider { shape = slope, contact = \"separate\", friction = 0.4 }\n"
    "particles { material = material.sand {}, shape = sphere { center = {0, 0.2, 0}, radius = 0.1 } }\n";

static const char sphere_example[] =
    "scene { dx = 0.02, frames = 24 }\n"
    "particles { material = material.sand {}, shape = sphere { center = {0, 0.5, 0}, radius = 0.1 } }\n"
    "collider { shape = sphere { center = {0.05, 0.2, 0}, radius = 0.15 }, contact = \"slip\" }\n" GROUND;

static const char box_example[] =
    "scene { dx = 0.02, frames = 24 }\n"
    "particles { material = material.sand {}, shape = box { min = {-0.1, 0.2, -0.1}, max = {0.1, 0.4, 0.1} } }\n"
    "collider { shape = box { min = {-0.3, 0, -0.05}, max = {0.3, 0.1, 0.05} }, contact = \"separate\" }\n" GROUND;

static const char capsule_example[] =
    "scene { dx = 0.02, frames = 24 }\n"
    "particles { material = material.sand {}, shape = box { min = {-0.1, 0.3, -0.1}, max = {0.1, 0.5, 0.1} } }\n"
    "collider { shape = capsule { a = {-0.2, 0.1, 0}, b = {0.2, 0.2, 0}, radius = 0.05 }, contact = \"slip\" }\n" GROUND;

static const char cylinder_example[] =
    "scene { dx = 0.02, frames = 24 }\n"
    "particles { material = material.sand {}, shape = cylinder { base = {0, 0, 0}, radius = 0.1, height = 0.3 } }\n"
    "collider { shape = cylinder { base = {0.3, 0.05, -1}, radius = 0.05, height = 2, axis = {0, 0, 1} } }   -- a log\n" GROUND;

static const char cone_example[] =
    "scene { dx = 0.02, frames = 24 }\n"
    "particles { material = material.sand {}, shape = sphere { center = {0, 0.5, 0}, radius = 0.1 } }\n"
    "collider { shape = cone { base = {0, 0, 0}, radius = 0.2, height = 0.3 }, contact = \"separate\", friction = 0.3 }\n" GROUND;

static const char torus_example[] =
    "scene { dx = 0.02, frames = 24 }\n"
    "particles { material = material.sand {}, shape = sphere { center = {0, 0.5, 0}, radius = 0.1 } }\n"
    "collider { shape = torus { center = {0, 0.08, 0}, major = 0.2, minor = 0.08 }, contact = \"separate\" }\n" GROUND;

static const char ellipsoid_example[] =
    "scene { dimension = 2, dx = 0.01, frames = 24 }\n"
    "particles { material = material.sand {}, shape = ellipsoid { center = {0, 0.3}, radii = {0.2, 0.1} } }\n"
    "collider { shape = half_space { point = {0, 0}, normal = {0, 1} } }\n";

static const char revolve_example[] =
    "scene { dx = 0.01, frames = 96 }\n"
    "local glass = { {0.12, -0.2}, {0.12, -0.1}, {0.05, 0}, {0.12, 0.1}, {0.12, 0.2} }\n"
    "collider { shape = revolve { profile = glass, thickness = 0.04, round = 0.02 }, contact = \"slip\" }\n"
    "particles { material = material.sand {}, shape = cylinder { base = {0, 0.1, 0}, radius = 0.08, height = 0.08 } }\n"
    "collider { shape = half_space { point = {0, -0.2, 0}, normal = {0, 1, 0} } }\n";

static const char height_field_example[] =
    "scene { dx = 0.02, frames = 48 }\n"
    "local dunes = height_field {\n"
    "    min = {-1, 0, -1}, max = {1, 0, 1},\n"
    "    height = function(x, z) return 0.1 * math.sin(6 * x) * math.cos(4 * z) end,\n"
    "}\n"
    "collider { shape = dunes, contact = \"separate\", friction = 0.5 }\n"
    "particles { material = material.sand {}, shape = sphere { center = {0.25, 0.3, 0}, radius = 0.1 } }\n";

static const char union_example[] =
    "scene { dx = 0.02, frames = 24 }\n"
    "local dumbbell = union(\n"
    "    sphere { center = {-0.2, 0.3, 0}, radius = 0.1 },\n"
    "    sphere { center = {0.2, 0.3, 0}, radius = 0.1 },\n"
    "    capsule { a = {-0.2, 0.3, 0}, b = {0.2, 0.3, 0}, radius = 0.04 })\n"
    "particles { material = material.elastic {}, shape = dumbbell }\n" GROUND;

static const char intersect_example[] =
    "scene { dx = 0.02, frames = 24 }\n"
    "local ball = sphere { center = {0, 0, 0}, radius = 0.2 }\n"
    "local dome = intersect(ball, half_space { point = {0, 0, 0}, normal = {0, -1, 0} })\n"
    "particles { material = material.sand {}, shape = dome }\n" GROUND;

static const char subtract_example[] =
    "scene { dx = 0.02, frames = 24 }\n"
    "local block = box { min = {-0.2, 0, -0.1}, max = {0.2, 0.2, 0.1} }\n"
    "local tunnel = cylinder { base = {0, 0.1, -1}, radius = 0.05, height = 2, axis = {0, 0, 1} }\n"
    "particles { material = material.sand { cohesion = 500 }, shape = subtract(block, tunnel) }\n" GROUND;

static const char offset_example[] =
    "scene { dimension = 2, dx = 0.01, frames = 48 }\n"
    "local room = box { min = {-0.2, 0}, max = {0.2, 0.3} }\n"
    "collider { shape = subtract(offset(room, 0.05), room), contact = \"slip\" }   -- walls around it\n"
    "particles { material = material.sand {}, shape = box { min = {-0.2, 0}, max = {0, 0.2} } }\n";

static const char invert_example[] =
    "scene { dx = 0.02, frames = 48 }\n"
    "local drum = cylinder { base = {0, 0, -0.1}, radius = 0.2, height = 0.2, axis = {0, 0, 1} }\n"
    "collider {\n"
    "    shape = invert(drum), contact = \"separate\", friction = 0.5,\n"
    "    motion = function(t) return { rotation = { angle = 90 * t } } end,\n"
    "}\n"
    "particles { material = material.sand {}, shape = box { min = {-0.1, -0.15, -0.1}, max = {0.1, 0, 0.1} } }\n";

static const char move_example[] =
    "scene { dx = 0.02, frames = 24 }\n"
    "local brick = box { min = {-0.1, -0.05, -0.05}, max = {0.1, 0.05, 0.05} }\n"
    "for i = 1, 3 do\n"
    "    local place = { position = {0, 0.15 * i, 0}, rotation = { axis = {0, 1, 0}, angle = 30 * i } }\n"
    "    particles { material = material.sand {}, shape = move(brick, place) }\n"
    "end\n" GROUND;

static const char mesh_sequence_example[] =
    "scene { dx = 0.02, frames = 24 }\n"
    "local sheet = mesh_sequence { files = \"meshes/trampoline-%02d.obj\", last = 11, loop = true, thickness = 0.05 }\n"
    "collider { shape = sheet, contact = \"separate\", friction = 0.3 }\n"
    "particles { material = material.sand {}, shape = sphere { center = {0, 0.3, 0}, radius = 0.1 } }\n";

static const char mesh_example[] =
    "scene { dx = 0.02, frames = 24 }\n"
    "local rock = mesh { file = \"meshes/rock.obj\", scale = 0.1 }\n"
    "collider { shape = rock, contact = \"separate\", friction = 0.5 }\n"
    "particles { material = material.sand {}, shape = sphere { center = {0, 0.4, 0}, radius = 0.1 } }\n" GROUND;

static const char particles_example[] =
    "scene { dx = 0.02, frames = 24, gravity = {0, 0, 0} }\n"
    "particles {\n"
    "    material = material.sand {},\n"
    "    shape = sphere { center = {0, 0, 0}, radius = 0.2 },\n"
    "    per_cell = 27,\n"
    "    velocity = function(x, y, z) return -3 * y, 3 * x, 0 end,   -- spins about z\n"
    "}\n";

static const char collider_example[] =
    "scene { dx = 0.02, frames = 72 }\n"
    "particles { material = material.sand {}, shape = box { min = {-0.2, 0, -0.1}, max = {0.2, 0.2, 0.1} } }\n"
    "collider {\n"
    "    name = \"plough\",\n"
    "    shape = box { min = {-0.4, 0.05, -0.1}, max = {-0.3, 0.3, 0.1} },\n"
    "    contact = \"separate\", friction = 0.3,\n"
    "    motion = function(t)\n"
    "        return { position = {0.2 * t, 0, 0}, rotation = { axis = {0, 0, 1}, angle = 5 * t } }\n"
    "    end,\n"
    "}\n"
    "collider {\n"
    "    name = \"stick\",\n"
    "    shape = capsule { a = {0.1, 0, 0}, b = {0.1, 0.5, 0}, radius = 0.04 }, contact = \"separate\",\n"
    "    keys = {   -- down into the sand, round in it, and away\n"
    "        { time = 0, position = {0, 0.3, 0} },\n"
    "        { time = 1, position = {0, 0.1, 0} },\n"
    "        { time = 2, position = {0, 0.1, 0}, rotation = { axis = {0, 1, 0}, angle = 360 } },\n"
    "        { time = 3, position = {0, 0.4, 0}, rotation = { axis = {0, 1, 0}, angle = 360 } },\n"
    "    },\n"
    "}\n" GROUND;

static const char emitter_example[] =
    "scene { dx = 0.02, frames = 96 }\n"
    "emitter {\n"
    "    material = material.sand {}, shape = sphere { center = {0, 0.6, 0}, radius = 0.05 },\n"
    "    velocity = {0, -1, 0}, rate = 10, stop = 2,   -- a spout that builds a pile\n"
    "}\n"
    "emitter {   -- one that goes round, and draws a ring\n"
    "    material = material.sand {}, shape = sphere { center = {0.3, 0.4, 0}, radius = 0.03 },\n"
    "    velocity = {0, -0.5, 0}, rate = 1, spin = { axis = {0, 1, 0}, rate = 180 },\n"
    "}\n"
    "rigid { name = \"can\", shape = box { min = {-0.6, 0, -0.1}, max = {-0.4, 0.2, 0.1} }, density = 2000 }\n"
    "emitter {   -- and one in the side of a can, wherever that goes\n"
    "    material = material.sand {}, shape = sphere { center = {-0.34, 0.1, 0}, radius = 0.03 },\n"
    "    velocity = {1, 0, 0}, rate = 1, attach = \"can\",\n"
    "}\n" GROUND;

static const char contact_example[] =
    "scene { dx = 0.02, frames = 48 }\n"
    "local rubber = material.elastic { density = 1000, young = 2e5 }\n"
    "particles { material = material.sand {}, shape = box { min = {-0.2, 0, -0.2}, max = {0.2, 0.15, 0.2} } }\n"
    "particles { material = rubber, shape = sphere { center = {0, 0.3, 0}, radius = 0.08 }, body = \"ball\" }\n"
    "particles { material = rubber, shape = sphere { center = {0.05, 0.5, 0}, radius = 0.08 }, body = \"other\" }\n"
    "contact { friction = 0.3 }                              -- of all pairs\n"
    "contact { bodies = {\"ball\", \"other\"}, friction = 0.1 }   -- but of these two\n" GROUND;
static const char rigid_example[] =
    "scene { dx = 0.02, frames = 48 }\n"
    "particles { material = material.sand {}, shape = box { min = {0, 0, 0}, max = {0.4, 0.2, 0.4} } }\n"
    "rigid {\n"
    "    name = \"ball\", shape = sphere { center = {0.2, 0.5, 0.2}, radius = 0.08 }, density = 2500,\n"
    "    velocity = {0, -2, 0}, spin = { axis = {1, 0, 0}, rate = 360 },   -- one turn a second\n"
    "}\n" GROUND;

static const char joint_example[] =
    "scene { dx = 0.02, frames = 48 }\n"
    "particles { material = material.sand {}, shape = box { min = {0, 0, 0}, max = {0.6, 0.12, 0.3} } }\n"
    "rigid { name = \"wheel\", shape = cylinder { base = {0.15, 0.22, 0.1}, axis = {0, 0, 1}, radius = 0.1, height = 0.1 }, density = 800 }\n"
    "rigid { name = \"fork\", shape = box { min = {0.11, 0.34, 0.1}, max = {0.19, 0.42, 0.2} }, density = 500 }\n"
    "joint { kind = \"hinge\", a = \"wheel\", b = \"fork\", at = {0.15, 0.22, 0.15}, speed = -180, strength = 5 }\n"
    "joint { kind = \"slider\", a = \"fork\", at = {0.15, 0.38, 0.15}, axis = {0, 1, 0} }   -- it may only rise and sink\n" GROUND;

static const char sink_example[] =
    "scene { dx = 0.02, frames = 48 }\n"
    "particles { material = material.sand {}, shape = box { min = {0, 0, 0}, max = {0.2, 0.3, 0.2} } }\n"
    "collider { shape = box { min = {-0.1, -0.1, -0.1}, max = {0.3, 0, 0.3} }, contact = \"separate\", friction = 0.3 }\n"
    "sink { shape = half_space { point = {0, -0.5, 0}, normal = {0, 1, 0} } }   -- what falls off the table is gone\n";

static const char probe_example[] =
    "scene { dx = 0.02, frames = 48 }\n"
    "particles { material = material.sand {}, shape = box { min = {0, 0, 0}, max = {0.2, 0.4, 0.2} } }\n"
    "probe { name = \"foot\", point = {0.1, 0.05, 0.1}, every = 0.005 }\n"
    "probe { name = \"gate\", plane = { point = {0.25, 0, 0}, normal = {1, 0, 0} }, every = 0.005 }   -- how much runs to the right\n"
    "probe { name = \"grain\", particle = 100, every = 0.01 }\n" GROUND;

#define SPONGE \
    "local sponge = material.elastic { density = 300, young = 1e5, poisson = 0.2 }\n" \
    "particles { material = sponge, body = \"sponge\", shape = box { min = {-0.2, 0, -0.1}, max = {0.2, 0.2, 0.1} } }\n" GROUND
static const char fracture_example[] =
    "scene { dx = 0.02, frames = 24 }\n" SPONGE
    "fracture { body = \"sponge\", by = plane { point = {0, 0, 0}, normal = {1, 0.2, 0} }, strength = {400, 500} }\n"
    "contact { friction = 0.4 }\n";
static const char plane_example[] =
    "scene { dx = 0.02, frames = 24 }\n" SPONGE
    "fracture { body = \"sponge\", by = plane { point = {0, 0, 0}, normal = {1, 0, 0} }, strength = 400 }\n";
static const char planes_example[] =
    "scene { dx = 0.02, frames = 24 }\n" SPONGE
    "fracture { body = \"sponge\", strength = 400, by = planes { list = {\n"
    "    { point = {0, 0, 0}, normal = {1, 0, 0} }, { point = {0, 0.1, 0}, normal = {0.3, 1, 0} } } } }\n";
static const char zigzag_example[] =
    "scene { dx = 0.02, frames = 24 }\n" SPONGE
    "fracture { body = \"sponge\", strength = 400,\n"
    "    by = zigzag { point = {0, 0, 0}, normal = {1, 0, 0}, along = {0, 1, 0}, tooth = 0.05 } }\n";
static const char voronoi_example[] =
    "scene { dx = 0.02, frames = 24 }\n" SPONGE
    "fracture { body = \"sponge\", by = voronoi { count = 8, seed = 1 }, strength = 400 }\n";

static const scene_word fixed_words[] = {
    {"scene", WORD_ONCE, true, "scene", "What is simulated, how finely and for how long.",
     KEYS(scene_keys), scene_example},
    {"param", WORD_PARAM, false, "params",
     "A number, a truth, a text or a choice of texts that `--set name=value` can change. "
     "Its fields go by position, `param(name, default, note)`, and it gives the value.",
     KEYS(param_keys), param_example},
    {"particles", WORD_MANY, false, "particles", "Fills a shape with a material. The mass of the shape is exact.",
     KEYS(particles_keys), particles_example},
    {"collider", WORD_MANY, false, "colliders", "Something solid that particles run into.",
     KEYS(collider_keys), collider_example},
    {"contact", WORD_MANY, false, "contacts",
     "How bodies touch that have a velocity of their own (`particles.body`). Without it they part and slide without friction.",
     KEYS(contact_keys), contact_example},
    {"fracture", WORD_MANY, false, "fractures",
     "A body that breaks: it is cut into pieces, and glue on the cuts holds them together until the stress across or along "
     "a cut is too much for it. Only in method explicit.",
     KEYS(fracture_keys), fracture_example},
    {"plane", WORD_CUT, false, NULL, "A cut along a plane, for `fracture`.", KEYS(cut_keys), plane_example},
    {"planes", WORD_CUT, false, NULL, "Cuts along several planes, for `fracture`.", KEYS(planes_keys), planes_example},
    {"zigzag", WORD_CUT, false, NULL, "A cut along teeth, for `fracture`.", KEYS(zigzag_keys), zigzag_example},
    {"voronoi", WORD_CUT, false, NULL, "Cuts into cells, each of all that is nearest to its site, for `fracture`.",
     KEYS(voronoi_keys), voronoi_example},
    {"rigid", WORD_MANY, false, "rigids",
     "Something solid that has a mass and is moved by what it runs into: gravity, particles, colliders and other bodies. "
     "It is a collider, too, numbered after those that the scene calls so.",
     KEYS(rigid_keys), rigid_example},
    {"joint", WORD_MANY, false, "joints",
     "Holds two rigid bodies together, or one to a collider or to the world. They do not touch each other then.",
     KEYS(joint_keys), joint_example},
    {"emitter", WORD_MANY, false, "emitters", "Pours a material in layers one spacing thick.",
     KEYS(emitter_keys), emitter_example},
    {"sink", WORD_MANY, false, "sinks", "Where particles vanish.",
     KEYS(sink_keys), sink_example},
    {"probe", WORD_MANY, false, "probes",
     "Reads numbers at a point, through a plane or of a particle, more often than frames are written, into `probes.csv` "
     "(docs/run-folder.md). It only looks: a run computes the same without.",
     KEYS(probe_keys), probe_example},
    {"half_space", WORD_SHAPE, false, NULL, "Everything on one side of a plane, such as the ground.",
     KEYS(half_space_keys), half_space_example},
    {"sphere", WORD_SHAPE, false, NULL, "A ball; in 2D a disc.",
     KEYS(sphere_keys), sphere_example},
    {"box", WORD_SHAPE, false, NULL, "A box along the axes; in 2D a rectangle.",
     KEYS(box_keys), box_example},
    {"capsule", WORD_SHAPE, false, NULL, "All that is near a straight line: a rod with round ends.",
     KEYS(capsule_keys), capsule_example},
    {"cylinder", WORD_SHAPE, false, NULL, "A cylinder; in 2D its cut, a rectangle that may be tilted.",
     KEYS(cylinder_keys), cylinder_example},
    {"cone", WORD_SHAPE, false, NULL, "A cone; in 2D its cut, a triangle.",
     KEYS(cone_keys), cone_example},
    {"torus", WORD_SHAPE, false, NULL, "A ring. Not in 2D.",
     KEYS(torus_keys), torus_example},
    {"ellipsoid", WORD_SHAPE, false, NULL, "A ball of another size along each axis; in 2D an ellipse.",
     KEYS(ellipsoid_keys), ellipsoid_example},
    {"revolve", WORD_SHAPE, false, NULL, "A profile turned about an axis: a bottle, a funnel, an hourglass. In 2D its cut.",
     KEYS(revolve_keys), revolve_example},
    {"height_field", WORD_SHAPE, false, NULL,
     "A landscape: all that lies below heights on a grid, joined by triangles. It has no bottom, and beyond its edges "
     "it goes on as high as they are; `intersect` it with a box for a piece of it.",
     KEYS(height_field_keys), height_field_example},
    {"mesh", WORD_SHAPE, false, NULL, "What a closed surface of triangles holds; only in 3D.",
     KEYS(mesh_keys), mesh_example},
    {"mesh_sequence", WORD_SHAPE, false, NULL,
     "A surface of triangles that deforms, from a file for each time; only in 3D, and only as the shape of a collider. "
     "What touches it feels the velocity of its vertices. Rigid bodies do not meet it yet.",
     KEYS(mesh_sequence_keys), mesh_sequence_example},
    {"union", WORD_SHAPE, false, NULL,
     "All that is in any of the shapes. Like all operators it takes its fields by position and gives a shape. "
     "At most 256 operators may be inside each other, with 10000 simple shapes in all. The volume of what operators "
     "make is integrated to 1e-4 or better.",
     KEYS(shapes_keys), union_example, .by_place = true},
    {"intersect", WORD_SHAPE, false, NULL, "All that is in each of the shapes.",
     KEYS(shapes_keys), intersect_example, .by_place = true},
    {"subtract", WORD_SHAPE, false, NULL, "What is in the first shape and in none of the others.",
     KEYS(subtract_keys), subtract_example, .by_place = true},
    {"offset", WORD_SHAPE, false, NULL, "A shape that is thicker or thinner all around; edges become round.",
     KEYS(offset_keys), offset_example, .by_place = true},
    {"invert", WORD_SHAPE, false, NULL, "All that is outside of a shape: what was solid is hollow.",
     KEYS(invert_keys), invert_example, .by_place = true},
    {"move", WORD_SHAPE, false, NULL, "A shape at another place, turned, larger or smaller.",
     KEYS(move_keys), move_example, .by_place = true},
    {"domain", WORD_ONCE, false, "domain", "A box that particles should stay in, and along which axes space repeats. Without it space has no end.",
     KEYS(domain_keys), domain_example},
    {"camera", WORD_ONCE, false, "camera", "Where pictures are taken from. Without it they find their own place.",
     KEYS(camera_keys), camera_example},
    {"output", WORD_ONCE, false, "output", "What a run writes.",
     KEYS(output_keys), output_example},
};
// clang-format on

// Words that come from other lists: materials from the properties of their kinds, and the options
// of methods as tables in `scene`. Made once, when somebody first asks.
enum { WORDS_MOST = 80, KEYS_MOST = 512, FORMS_MOST = 32, PROPERTIES_MOST = 32 };

static scene_word words[WORDS_MOST];
static scene_key keys[KEYS_MOST];
static scene_word forms[FORMS_MOST];
static char texts[WORDS_MOST][2][48]; // names of words, defaults of names and colours
static int word_count, key_count, form_count;

static scene_key *add_key(scene_key key)
{
    if (key_count == KEYS_MOST) {
        rp_assert_failed("room for keys", __FILE__, __LINE__);
    }
    keys[key_count] = key;
    return &keys[key_count++];
}

static scene_key key_of(const rp_property *p)
{
    static const unsigned takes[] = {
        [RP_PROPERTY_NUMBER] = TAKES_NUMBER,
        [RP_PROPERTY_BOOLEAN] = TAKES_BOOLEAN,
        [RP_PROPERTY_CHOICE] = TAKES_CHOICE,
        [RP_PROPERTY_TABLE] = TAKES_BOOLEAN | TAKES_TABLE,
    };
    return (scene_key){.name = p->name,
                       .takes = takes[p->type],
                       .unit = p->unit,
                       .range = {p->low, p->high, p->above_low, p->below_high},
                       .choices = p->choices,
                       .otherwise = p->otherwise,
                       .absent = p->absent,
                       .not_with = p->not_with,
                       .sentence = p->sentence};
}

static const scene_word *add_form(const char *name, const rp_property *p, int count);

// The tables among properties. Their keys come before those of what holds them, which lie side by
// side.
static void add_forms(const rp_property *p, int count, const scene_word *form[PROPERTIES_MOST])
{
    if (count > PROPERTIES_MOST) {
        rp_assert_failed("room for properties", __FILE__, __LINE__);
    }
    for (int i = 0; i < count; i++) {
        form[i] = p[i].forms > 0 ? add_form(p[i].name, p[i].form, p[i].forms) : NULL;
    }
}

static void add_keys(const rp_property *p, int count, const scene_word *const form[PROPERTIES_MOST])
{
    for (int i = 0; i < count; i++) {
        add_key(key_of(&p[i]))->form = form[i];
    }
}

static const scene_word *add_form(const char *name, const rp_property *p, int count)
{
    if (form_count == FORMS_MOST) {
        rp_assert_failed("room for forms", __FILE__, __LINE__);
    }
    const scene_word *inner[PROPERTIES_MOST];
    scene_word *form = &forms[form_count++];
    add_forms(p, count, inner);
    const int first = key_count;
    add_keys(p, count, inner);
    *form = (scene_word){.name = name, .kind = WORD_FORM, .key = &keys[first], .keys = count};
    return form;
}

static void add_material(rp_material_kind kind)
{
    static const char grains[] = "Of most grains in pictures: red, green and blue, each 0 to 1 as "
                                 "in sRGB; a few are darker or lighter.";
    const rp_material_info *info = rp_material_info_of(kind);
    const scene_word *form[PROPERTIES_MOST];
    add_forms(info->property, info->properties, form);
    const int first = key_count;
    char(*text)[48] = texts[word_count];
    snprintf(text[0], sizeof text[0], "material.%s", info->name);
    snprintf(text[1], sizeof text[1], "\"%s\"", info->name);
    add_key((scene_key){.name = "name",
                        .takes = TAKES_STRING,
                        .otherwise = text[1],
                        .sentence = "For messages and frames; at most 63 bytes."});
    add_keys(info->property, info->properties, form);
    scene_key color = {.name = "color",
                       .takes = TAKES_VECTOR3,
                       .range = {0.0, 1.0, false, false},
                       .absent = "amber, with brown and white grains",
                       .sentence = grains};
    if (info->color[0] >= 0.0) {
        static char colors[RP_MATERIAL_KINDS][48];
        snprintf(colors[kind], sizeof colors[kind], "{%g, %g, %g}", info->color[0], info->color[1],
                 info->color[2]);
        color.absent = NULL;
        color.otherwise = colors[kind];
    }
    add_key(color);
    words[word_count++] = (scene_word){.name = text[0],
                                       .kind = WORD_MATERIAL,
                                       .group = "materials",
                                       .sentence = info->sentence,
                                       .key = &keys[first],
                                       .keys = key_count - first,
                                       .example = info->example};
}

// Options of a method are a table of its name in `scene`.
static void add_scene(const scene_word *fixed)
{
    const scene_word *form[16] = {0};
    for (int m = 0; m < rp_methods(); m++) {
        const rp_method_info *method = rp_method_at(m);
        form[m] =
            method->options > 0 ? add_form(method->name, method->option, method->options) : NULL;
    }
    const int first = key_count;
    for (int k = 0; k < fixed->keys; k++) {
        add_key(fixed->key[k]);
    }
    for (int m = 0; m < rp_methods(); m++) {
        if (form[m] != NULL) {
            add_key(
                (scene_key){.name = form[m]->name,
                            .takes = TAKES_TABLE,
                            .form = form[m],
                            .otherwise = "{}",
                            .sentence = "Options of this method; others have no use for them."});
        }
    }
    words[word_count] = *fixed;
    words[word_count].key = &keys[first];
    words[word_count++].keys = key_count - first;
}

_Static_assert((int)RP_MATERIAL_KINDS + sizeof fixed_words / sizeof fixed_words[0] <= WORDS_MOST,
               "room for words");

static void make_words(void)
{
    for (size_t w = 0; w < sizeof fixed_words / sizeof fixed_words[0]; w++) {
        if (strcmp(fixed_words[w].name, "scene") == 0) {
            add_scene(&fixed_words[w]);
        } else {
            words[word_count++] = fixed_words[w];
        }
        for (int k = 0; k < RP_MATERIAL_KINDS && strcmp(fixed_words[w].name, "param") == 0; k++) {
            if (rp_material_info_of((rp_material_kind)k)->example != NULL) {
                add_material((rp_material_kind)k);
            }
        }
    }
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

int rp_scene_word_count(void)
{
    pthread_once(&once, make_words);
    return word_count;
}

const scene_word *rp_scene_word_at(int index)
{
    pthread_once(&once, make_words);
    return &words[index];
}

int rp_scene_key_index(const scene_word *word, const char *key)
{
    for (int k = 0; k < word->keys; k++) {
        if (strcmp(word->key[k].name, key) == 0) {
            return k;
        }
    }
    rp_assert_failed(key, __FILE__, __LINE__);
    return 0;
}

const scene_word *rp_scene_find_word(const char *name)
{
    for (int w = 0; w < rp_scene_word_count(); w++) {
        if (strcmp(rp_scene_word_at(w)->name, name) == 0) {
            return rp_scene_word_at(w);
        }
    }
    return NULL;
}

// Text that grows in a buffer of fixed size and is cut at its end.
typedef struct line {
    char *text;
    int size, length;
} line;

static void append(line *l, const char *text)
{
    const int n = snprintf(l->text + l->length, (size_t)(l->size - l->length), "%s", text);
    l->length = l->length + n < l->size ? l->length + n : l->size - 1;
}

static void append_choices(line *l, const char *const *choices)
{
    for (int c = 0; choices[c] != NULL; c++) {
        append(l, c == 0 ? "\"" : choices[c + 1] != NULL ? ", \"" : " or \"");
        append(l, choices[c]);
        append(l, "\"");
    }
}

void rp_scene_describe_choices(const char *const *choices, char *text, int size)
{
    line l = {text, size, 0};
    text[0] = '\0';
    append_choices(&l, choices);
}

void rp_scene_describe_takes(const scene_key *key, char *text, int size)
{
    static const struct {
        unsigned kind;
        const char *name;
    } names[] = {
        {TAKES_NUMBER, "a number"},
        {TAKES_INTEGER, "a whole number"},
        {TAKES_BOOLEAN, "a boolean"},
        {TAKES_STRING, "a string"},
        {TAKES_CHOICE, NULL},
        {TAKES_VECTOR, "a vector"},
        {TAKES_VECTOR3, "a vector"},
        {TAKES_AXES, "a boolean per axis"},
        {TAKES_MATRIX, "a matrix"},
        {TAKES_TABLE, "a table"},
        {TAKES_FUNCTION, "a function"},
        {TAKES_SHAPE, "a shape"},
        {TAKES_MATERIAL, "a material"},
        {TAKES_SHAPES, "shapes"},
        {TAKES_POINTS, "a list of points"},
        {TAKES_TABLES, "a list of tables"},
        {TAKES_STRINGS, "a list of strings"},
        {TAKES_CUT, "a cut"},
        {TAKES_RANGE, "a list of two numbers"},
        {TAKES_PLACES, "a list of points"},
    };
    line l = {text, size, 0};
    text[0] = '\0';
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
        if ((key->takes & names[n].kind) == 0) {
            continue;
        }
        if (l.length > 0) {
            append(&l, " or ");
        }
        const bool some = names[n].kind == TAKES_STRINGS && key->choices != NULL;
        append(&l, some ? "a list of any of " : "");
        if (names[n].kind == TAKES_CHOICE || some) {
            append_choices(&l, key->choices);
        } else {
            append(&l, names[n].name);
        }
    }
}

void rp_scene_describe_range(scene_range r, char *text, int size)
{
    const rp_property p = {
        .low = r.low, .high = r.high, .above_low = r.above_low, .below_high = r.below_high};
    rp_property_range(&p, text, (size_t)size);
}
