// What other tools call things, and what they are called here. Spelling is compared without case
// and underscores, so that "YoungsModulus" is found under "youngsmodulus".
#include "scene/words.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

// clang-format off
static const scene_foreign foreign[] = {
    // words of scripts
    {"words", "halfspace halfplane infiniteplane", "half_space", NULL},
    {"words", "ground floor", "half_space", "collider { shape = half_space { point = {0, 0, 0}, normal = ... } }"},
    {"words", "cube cuboid block brick rectangle rect square aabb", "box", NULL},
    {"words", "ball circle disk disc", "sphere", NULL},
    {"words", "translate translation rotate rotation transform scale shift", "move", "move(shape, { position = ..., rotation = ..., scale = ... })"},
    {"words", "difference cut minus", "subtract", NULL},
    {"words", "unite merge join add combine", "union", NULL},
    {"words", "intersection common clip", "intersect", NULL},
    {"words", "expand grow inflate dilate shrink round shell", "offset", NULL},
    {"words", "complement inverse negate inside", "invert", NULL},
    {"words", "heightmap terrain landscape dem elevation", "height_field", NULL},
    {"words", "import stl obj ply gltf model loadmesh trimesh", "mesh", NULL},
    {"words", "lathe revolution profile", "revolve", NULL},
    {"words", "donut doughnut ring", "torus", NULL},
    {"words", "pill rod", "capsule", NULL},
    {"words", "pipe tube", "subtract", "subtract(cylinder { ... }, cylinder { ... })"},
    {"words", "extrude polygon wedge prism", "intersect", "intersect(half_space { ... }, ...) of its faces"},
    {"words", "contacts pair pairs interaction interface", "contact", NULL},
    {"words", "obstacle boundary wall solid object", "collider", NULL},
    {"words", "rigidbody body freebody dynamicbody", "rigid", NULL},
    {"words", "source inflow inlet spout nozzle jet", "emitter", NULL},
    {"words", "drain outflow outlet", "sink", NULL},
    {"words", "sensor gauge monitor measure measurement history logger fluxmeter", "probe", NULL},
    {"words", "fill grains particle points sample", "particles", NULL},
    {"words", "simulation sim world config settings setup options", "scene", NULL},
    {"words", "parameter variable argument input", "param", NULL},
    {"words", "bounds boundingbox grid periodic", "domain", NULL},
    {"words", "view viewpoint", "camera", NULL},
    {"words", "render picture image movie light sun", NULL, "repose render makes pictures of a run; camera { ... } says from where"},
    {"words", "wind force forcefield bodyforce vortex turbulence acceleration", NULL, "it is a field: scene { acceleration = function(t, x, y, z) ... end }"},
    {"words", "save write export dump", "output", NULL},
    {"words", "sand water snow elastic tracer camclay", NULL, "materials are material.sand { ... } and so on"},
    {"words", "soil fluid liquid", NULL, "materials are material.sand { ... }, material.water { ... } and so on"},
    {"words", "gravity dx fps frames dt duration", NULL, "it is a field: scene { dx = ..., frames = ... }"},
    {"words", "sin cos tan sqrt abs exp log min max pi rad deg random", NULL, "it is in math, as in math.sin"},
    {"words", "vec vec2 vec3 vector float3 array", NULL, "a vector is a list, as in {0, 1, 0}"},
    // what follows material.
    {"materials", "soil dirt gravel grain grains granular powder druckerprager mohrcoulomb regolith", "sand", NULL},
    {"materials", "fluid liquid newtonian", "water", NULL},
    {"materials", "rubber jelly soft softbody solid neohookean hencky corotated", "elastic", NULL},
    {"materials", "clay mud modifiedcamclay mcc", "cam_clay", NULL},
    {"materials", "ice", "snow", NULL},
    {"materials", "marker passive dye", "tracer", NULL},
    {"materials", "rigid rock stone steel wood", NULL, "what is rigid is a collider { shape = ... }"},
    // fields of materials
    {"material", "e y youngs youngsmodulus youngmodulus elasticmodulus stiffness modulus", "young", NULL},
    {"material", "nu v poissonratio poissonsratio", "poisson", NULL},
    {"material", "rho rho0 massdensity bulkdensity density0", "density", NULL},
    {"material", "phi phic angle internalfriction frictionangledegrees angleofrepose repose", "friction_angle", "in degrees"},
    {"material", "mu mus friction frictioncoeff mufriction tanphi", "friction_coefficient", "or friction_angle, in degrees"},
    {"material", "c coh cohesivestrength tensilestrength yieldstress", "cohesion", NULL},
    {"material", "c0 cs c soundspeed speedofsound", "sound_speed", NULL},
    {"material", "k bulkmodulus", "sound_speed", "the root of the bulk modulus over the density"},
    {"material", "eta mu dynamicviscosity", "viscosity", NULL},
    {"material", "xi hardeningcoefficient", "hardening", NULL},
    {"material", "psi dilatancy dilation dilationangle dilatancyangle", "dilation_angle", "in degrees"},
    {"material", "d diameter radius grainsize size", NULL, "grains have no size of their own; `per_cell` or `spacing` of particles says how many there are"},
    {"material", "restitution damping", NULL, "there is none: friction and plastic flow take the energy"},
    // fields of scene
    {"scene", "duration time endtime tend totaltime simtime seconds length", "frames", "frames = duration * fps"},
    {"scene", "framecount nframes numframes frameend endframe", "frames", NULL},
    {"scene", "dt timestep step maxdt deltat", "dt_max", "the longest step; how long steps may be follows from the scene"},
    {"scene", "substeps", "dt_max", "the longest step"},
    {"scene", "h cellsize gridsize gridspacing gridresolution resolution spacing voxelsize cell", "dx", "in metres"},
    {"scene", "name", "title", NULL},
    {"scene", "dim dimensions ndim", "dimension", NULL},
    {"scene", "g", "gravity", "a vector"},
    {"scene", "framerate", "fps", NULL},
    {"scene", "solver integrator scheme", "method", NULL},
    {"scene", "upaxis zup", "up", NULL},
    {"scene", "randomseed rng", "seed", NULL},
    {"scene", "flip pic apic", "transfer", NULL},
    {"scene", "wind force bodyforce", "acceleration", NULL},
    {"scene", "threads cores ncpu", NULL, "that is repose run --threads N"},
    {"scene", "out output outdir folder path", NULL, "that is repose run -o DIR"},
    {"scene", "size bounds domain min max", NULL, "that is domain { min = ..., max = ... }"},
    {"scene", "material density young", NULL, "materials are values: local sand = material.sand { ... }"},
    // fields of things
    {"particles", "ppc particlespercell", "per_cell", NULL},
    {"particles", "distance h dx", "spacing", NULL},
    {"particles", "count n number particlecount", "spacing", "how many there are follows from it and the shape"},
    {"particles", "vel v v0 initialvelocity", "velocity", NULL},
    {"particles", "distribution pattern", "sampling", NULL},
    {"collider", "mu frictioncoefficient coefficient", "friction", NULL},
    {"collider", "frictionangle phi", "friction", "the tangent of the angle"},
    {"collider", "type kind mode bc boundary boundarycondition sticky", "contact", NULL},
    {"collider", "position pos location translate translation offset rotation rotate orientation scale", NULL,
     "move(shape, { position = ..., rotation = ..., scale = ... }) puts a shape elsewhere; what moves has motion, velocity, spin or keys"},
    {"collider", "animation pose transform path", "motion", "motion = function(t) return { position = {0, 0, 0} } end"},
    {"collider", "keyframes animationkeys", "keys", NULL},
    {"collider", "angularvelocity omega", "spin", NULL},
    {"collider", "origin center centre rotationcenter anchor hinge", "pivot", "what motion, keys and spin turn about"},
    {"collider", "parent attachto", "attach", NULL},
    {"collider", "visible hidden appearance opacity", "look", NULL},
    {"collider", "interpolation ease easing", "between", NULL},
    {"words", "hinge slider constraint motor axle prismatic revolute", "joint", NULL},
    {"joint", "type", "kind", NULL},
    {"joint", "anchor pivot position point center", "at", NULL},
    {"joint", "limits limit", "range", "range = { min = -30, max = 60 }"},
    {"joint", "motor rate velocity", "speed", NULL},
    {"joint", "maxtorque maxforce torque force", "strength", NULL},
    {"joint", "bodies body first second", "a", "and b"},
    {"rigid", "mu frictioncoefficient coefficient", "friction", NULL},
    {"rigid", "frictionangle phi", "friction", "the tangent of the angle"},
    {"rigid", "rho", "density", NULL},
    {"rigid", "m weight", "mass", NULL},
    {"rigid", "v initialvelocity linearvelocity", "velocity", NULL},
    {"rigid", "angularvelocity omega rotation", "spin", NULL},
    {"rigid", "bounce bounciness elasticity e cor", "restitution", NULL},
    {"rigid", "moment", "torque", NULL},
    {"rigid", "position center pose transform", "shape", "it lies where its shape does"},
    {"rigid", "motion keys attach", NULL, "it is moved by what it runs into; a collider is moved by a script"},
    {"collider", "material", NULL, "what sand feels of a collider are its contact and friction"},
    {"particles", "object group part piece field solid", "body", NULL},
    {"contact", "mu frictioncoefficient coefficient", "friction", NULL},
    {"contact", "pair between with a b body", "bodies", "bodies = {\"ball\", \"block\"}"},
    {"contact", "type kind mode", "contact", NULL},
    {"contact", "normal", "normals", NULL},
    {"emitter", "flow flux massflow flowrate massrate", "rate", NULL},
    {"emitter", "direction speed vel v", "velocity", NULL},
    {"emitter", "begin from t0 starttime", "start", NULL},
    {"emitter", "until end t1 endtime stoptime duration", "stop", NULL},
    {"emitter", "amount total", "volume", NULL},
    {"emitter", "animation pose transform path", "motion", "motion = function(t) return { position = {0, 0, 0} } end"},
    {"emitter", "parent follow attached", "attach", NULL},
    {"any", "geometry geom region object", "shape", NULL},
    {"any", "mesh model trimesh obj stl", "shape", "shape = mesh { file = ... }"},
    {"any", "mat", "material", NULL},
    {"any", "colour rgb", "color", NULL},
    {"any", "label id", "name", NULL},
    {"domain", "boundary", "leave", NULL},
    {"domain", "size extent dimensions", "max", "it reaches from min to max"},
    {"camera", "position pos from origin location", "eye", NULL},
    {"camera", "target lookat at to look center focus", "look_at", NULL},
    {"camera", "fovy angle fieldofview", "fov", NULL},
    {"camera", "focallength lens", "fov", "in degrees, from bottom to top"},
    {"camera", "up", NULL, "that is scene { up = ... }"},
    {"output", "stress pressure strain velocity", "columns", "columns = {\"velocity\", \"stress\", \"pressure\"}"},
    {"probe", "at position pos location center centre where", "point", NULL},
    {"probe", "interval period dt step", "every", "in seconds"},
    {"probe", "rate frequency fps hz", "every", "in seconds, one over the rate"},
    {"probe", "grain particleid", "particle", NULL},
    {"probe", "line surface face section", "plane", "plane = { point = ..., normal = ... }"},
    {"output", "every interval fps", NULL, "that is scene { fps = ... }"},
    {"output", "fields variables attributes quantities keep", "columns", NULL},
    {"output", "folder path dir", NULL, "that is repose run -o DIR"},
    {"output", "format type", NULL, "frames are HDF5; repose export makes other files of them"},
    // shapes
    {"any", "r rad", "radius", NULL},
    {"any", "diameter", "radius", "half of it"},
    {"any", "pos position centre origin location c", "center", NULL},
    {"any", "pos position centre center origin location", "base", "the middle of the lower face"},
    {"any", "size extent extents dimensions halfextents width height depth sides", "max", "a box reaches from min to max"},
    {"any", "center centre position pos origin", "min", "a box reaches from min to max"},
    {"any", "lower low corner p0 from", "min", NULL},
    {"any", "upper high p1 to", "max", NULL},
    {"any", "h length", "height", NULL},
    {"any", "direction dir up", "axis", NULL},
    {"half_space", "position pos origin center offset d height location", "point", NULL},
    {"half_space", "n direction dir up", "normal", "points out of the solid"},
    {"capsule", "start p0 from begin", "a", NULL},
    {"capsule", "end p1 to", "b", NULL},
    {"torus", "majorradius radius r outer", "major", NULL},
    {"torus", "minorradius thickness tube inner", "minor", NULL},
    {"ellipsoid", "radius r size axes", "radii", NULL},
    {"revolve", "points curve outline", "profile", NULL},
    {"box", "radius fillet bevel", "round", NULL},
    {"height_field", "function f z heights data", "height", NULL},
    {"any", "path filename filepath src url image texture", "file", NULL},
    {"mesh", "dx voxelsize cell", "resolution", NULL},
    {"mesh", "units unit", "scale", "metres in a unit of the file"},
    {"mesh", "upaxis zup", "up", NULL},
    {"mesh", "fix watertight close", "repair", NULL},
    {"shape", "translate translation rotate rotation orientation transform position scale", NULL,
     "move(shape, { position = ..., rotation = ..., scale = ... }) puts a shape elsewhere"},
    // places and motions
    {"any", "translate translation location pos offset move", "position", NULL},
    {"any", "rotate orientation quaternion angle", "rotation", "rotation = { axis = {0, 0, 1}, angle = 30 }"},
    {"any", "size factor", "scale", NULL},
    {"keys", "t at frame", "time", "in seconds"},
    {"any", "degrees deg theta radians", "angle", "in degrees"},
    {"any", "normal about", "axis", NULL},
    {"spin", "speed omega angularvelocity angle", "rate", "in degrees/s"},
    {"spin", "rpm", "rate", "in degrees/s: 6 times the turns a minute"},
    // strings to choose from
    {"scene.transfer", "flip", NULL, "FLIP has a share: transfer = { flip = 0.95 }"},
    {"scene.transfer", "mlsmpm mls mlsapic", "apic", NULL},
    {"scene.method", "mpm mlsmpm", "explicit", NULL},
    {"scene.order", "1 hat tent", "linear", NULL},
    {"collider.contact", "noslip stick glue fixed", "sticky", NULL},
    {"collider.contact", "freeslip slide frictionless", "slip", NULL},
    {"collider.contact", "friction frictional coulomb separable free", "separate", NULL},
    {"collider.look", "transparent clear", "glass", NULL},
    {"collider.look", "invisible none", "hidden", NULL},
    {"domain.leave", "delete kill drop", "remove", NULL},
    {"particles.sampling", "random bluenoise", "poisson", NULL},
    {"particles.sampling", "grid regular uniform cubic", "lattice", NULL},
};
// clang-format on

int rp_scene_foreign_count(void) { return (int)(sizeof foreign / sizeof foreign[0]); }
const scene_foreign *rp_scene_foreign_at(int index) { return &foreign[index]; }

// Is it one of the names of a list, but for case and underscores?
static bool is_among(const char *list, const char *name)
{
    while (*list != '\0') {
        const char *n = name;
        while (*list != '\0' && *list != ' ' && tolower((unsigned char)*n) == *list) {
            list++;
            do {
                n++;
            } while (*n == '_');
        }
        if ((*list == '\0' || *list == ' ') && *n == '\0' && n != name) {
            return true;
        }
        list += strcspn(list, " ");
        list += *list == ' ';
    }
    return false;
}

const scene_foreign *rp_scene_find_foreign(const char *in, const char *theirs)
{
    for (int i = 0; i < rp_scene_foreign_count(); i++) {
        if (strcmp(foreign[i].in, in) == 0 && is_among(foreign[i].theirs, theirs)) {
            return &foreign[i];
        }
    }
    return NULL;
}

static bool has_key(const scene_word *word, const char *name)
{
    for (int k = 0; k < word->keys; k++) {
        if (strcmp(word->key[k].name, name) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_about(const scene_foreign *f, const scene_word *word)
{
    return strcmp(f->in, word->name) == 0 || strcmp(f->in, "any") == 0 ||
           (strcmp(f->in, "material") == 0 && word->kind == WORD_MATERIAL) ||
           (strcmp(f->in, "shape") == 0 && word->kind == WORD_SHAPE);
}

const scene_foreign *rp_scene_foreign_key(const scene_word *word, const char *theirs)
{
    for (int i = 0; i < rp_scene_foreign_count(); i++) {
        const scene_foreign *f = &foreign[i];
        if (is_about(f, word) && is_among(f->theirs, theirs) &&
            (f->ours == NULL || has_key(word, f->ours))) {
            return f;
        }
    }
    return NULL;
}

void rp_scene_suggest(const scene_foreign *known, const char *nearest, const char *before,
                      char mark, char *text, int size)
{
    const char *meant = known != NULL ? known->ours : nearest;
    const char *how = known != NULL ? known->how : NULL;
    if (meant != NULL) {
        snprintf(text, (size_t)size, "; did you mean %c%s%s%c%s%s%s?", mark, before, meant, mark,
                 how != NULL ? " (" : "", how != NULL ? how : "", how != NULL ? ")" : "");
    } else {
        snprintf(text, (size_t)size, "%s%s%s", how != NULL ? "; " : "", how != NULL ? how : "",
                 how != NULL ? "." : "");
    }
}
