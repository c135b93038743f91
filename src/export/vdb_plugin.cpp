// Particles as OpenVDB grids: `density`, the share of space that they fill; `velocity` [m/s],
// weighted by mass; `surface`, a level set around them. Of several materials, each has a
// `density_NAME` and a `surface_NAME` besides. The only file here in C++.
#include "export/vdb.h"

#include <openvdb/openvdb.h>
#include <openvdb/tools/LevelSetFilter.h>
#include <openvdb/tools/ParticlesToLevelSet.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <string>
#include <vector>

namespace
{

// Which particles a grid is of.
using Rows = std::vector<int64_t>;

Rows rows_of(const rp_vdb_particles &p, int material) // -1: all
{
    Rows rows;
    for (int64_t n = 0; n < p.count; n++) {
        const double *x = p.position[n];
        if (std::isfinite(x[0] + x[1] + x[2]) && (material < 0 || p.material[n] == material)) {
            rows.push_back(n);
        }
    }
    return rows;
}

// What ParticlesToLevelSet asks for.
class Spheres
{
  public:
    using PosType = openvdb::Vec3R;
    Spheres(const rp_vdb_particles &p, const Rows &r, double more)
        : particles(p), rows(r), grow(more)
    {
    }
    size_t size() const { return rows.size(); }
    void getPos(size_t n, openvdb::Vec3R &x) const
    {
        x = openvdb::Vec3R(particles.position[rows[n]]);
    }
    void getPosRad(size_t n, openvdb::Vec3R &x, openvdb::Real &r) const
    {
        getPos(n, x);
        r = grow + particles.radius[rows[n]];
    }

  private:
    const rp_vdb_particles &particles;
    const Rows &rows;
    double grow;
};

// Spreads something of a particle over the eight voxels around it.
template <typename Add> void spread(const rp_vdb_particles &p, const Rows &rows, Add add)
{
    for (const int64_t n : rows) {
        const openvdb::Vec3d x = openvdb::Vec3d(p.position[n]) / p.voxel;
        const openvdb::Coord base = openvdb::Coord::floor(x);
        const openvdb::Vec3d f = x - base.asVec3d();
        for (int k = 0; k < 8; k++) {
            add(n, base.offsetBy(k & 1, k >> 1 & 1, k >> 2),
                (k & 1 ? f[0] : 1 - f[0]) * (k >> 1 & 1 ? f[1] : 1 - f[1]) *
                    (k >> 2 ? f[2] : 1 - f[2]));
        }
    }
}

openvdb::FloatGrid::Ptr density(const rp_vdb_particles &p, const Rows &rows)
{
    auto grid = openvdb::FloatGrid::create(0.0f);
    auto at = grid->getAccessor();
    spread(p, rows, [&](int64_t n, const openvdb::Coord &to, double w) {
        const double side = 2.0 * p.radius[n] / p.voxel;
        at.setValue(to, at.getValue(to) + static_cast<float>(w * side * side * side));
    });
    grid->setGridClass(openvdb::GRID_FOG_VOLUME);
    return grid;
}

openvdb::Vec3SGrid::Ptr velocity(const rp_vdb_particles &p, const Rows &rows)
{
    auto grid = openvdb::Vec3SGrid::create(openvdb::Vec3s(0.0f));
    auto weight_grid = openvdb::FloatGrid::create(0.0f);
    auto flow_at = grid->getAccessor();
    auto weight_at = weight_grid->getAccessor();
    spread(p, rows, [&](int64_t n, const openvdb::Coord &to, double w) {
        const float m = static_cast<float>(w * p.mass[n]);
        weight_at.setValue(to, weight_at.getValue(to) + m);
        flow_at.setValue(to, flow_at.getValue(to) + m * openvdb::Vec3s(p.velocity[n]));
    });
    for (auto it = grid->beginValueOn(); it; ++it) {
        const float m = weight_at.getValue(it.getCoord());
        it.setValue(m > 0.0f ? *it / m : openvdb::Vec3s(0.0f));
    }
    grid->setVectorType(openvdb::VEC_CONTRAVARIANT_RELATIVE);
    grid->insertMeta("unit", openvdb::StringMetadata("m/s"));
    return grid;
}

// A closed surface: spheres that overlap, smoothed where they meet, then taken back.
openvdb::FloatGrid::Ptr surface(const rp_vdb_particles &p, const Rows &rows)
{
    auto grid = openvdb::createLevelSet<openvdb::FloatGrid>(p.voxel, 3.0);
    double largest = 0.0;
    for (const int64_t n : rows) {
        largest = std::max(largest, static_cast<double>(p.radius[n]));
    }
    const double grow = 0.8 * largest;
    Spheres spheres(p, rows, grow);
    openvdb::tools::ParticlesToLevelSet<openvdb::FloatGrid> raster(*grid);
    raster.setRmin(0.5);
    raster.rasterizeSpheres(spheres);
    raster.finalize(true);
    if (!grid->empty()) {
        openvdb::tools::LevelSetFilter<openvdb::FloatGrid> filter(*grid);
        filter.meanCurvature();
        filter.offset(static_cast<float>(grow));
    }
    return grid;
}

// openvdb::io::File takes no notice when a disk is full; a stream of our own throws.
class Whole : public openvdb::io::Archive
{
  public:
    using openvdb::io::Archive::write;
};

void write(const char *path, const rp_vdb_particles &p)
{
    openvdb::initialize();
    openvdb::GridPtrVec grids;
    const auto add = [&](openvdb::GridBase::Ptr grid, const std::string &name) {
        grid->setName(name);
        grid->setTransform(openvdb::math::Transform::createLinearTransform(p.voxel));
        grids.push_back(grid);
    };
    const Rows all = rows_of(p, -1);
    add(density(p, all), "density");
    add(velocity(p, all), "velocity");
    add(surface(p, all), "surface");
    for (int m = 0; m < p.materials; m++) {
        if (p.name[m] != nullptr) {
            const Rows some = rows_of(p, m);
            add(density(p, some), std::string("density_") + p.name[m]);
            add(surface(p, some), std::string("surface_") + p.name[m]);
        }
    }
    openvdb::MetaMap about;
    about.insertMeta("creator", openvdb::StringMetadata("Repose"));
    about.insertMeta("time", openvdb::DoubleMetadata(p.time));
    about.insertMeta("frame", openvdb::Int64Metadata(p.frame));
    about.insertMeta("fps", openvdb::DoubleMetadata(p.fps));
    about.insertMeta("up_axis", openvdb::StringMetadata(p.z_up ? "z" : "y"));
    std::ofstream file;
    file.exceptions(std::ios::failbit | std::ios::badbit);
    errno = 0;
    file.open(path, std::ios::binary | std::ios::trunc);
    Whole().write(file, openvdb::GridCPtrVec(grids.begin(), grids.end()), true, about);
    file.close();
}

int guarded(const char *path, const rp_vdb_particles *particles, char *why, size_t size)
{
    try {
        write(path, *particles);
        return 0;
    } catch (const std::ios_base::failure &error) {
        std::snprintf(why, size, "%s", errno != 0 ? std::strerror(errno) : error.what());
    } catch (const std::exception &error) {
        std::snprintf(why, size, "%s", error.what());
    } catch (...) {
        std::snprintf(why, size, "OpenVDB failed");
    }
    return -1;
}

const rp_vdb_plugin plugin = {RP_VDB_VERSION, guarded};

} // namespace

extern "C" __attribute__((visibility("default"))) const rp_vdb_plugin *rp_vdb_plugin_get(void)
{
    return &plugin;
}
