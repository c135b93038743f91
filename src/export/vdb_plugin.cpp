// Particles as OpenVDB grids: `density`, the share of space that they fill; `velocity` [m/s],
// weighted by mass; `surface`, a level set around them. The only file here in C++.
#include "export/vdb.h"

#include <openvdb/openvdb.h>
#include <openvdb/tools/LevelSetFilter.h>
#include <openvdb/tools/ParticlesToLevelSet.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>

namespace
{

// What ParticlesToLevelSet asks for.
class Spheres
{
  public:
    using PosType = openvdb::Vec3R;
    Spheres(const rp_vdb_particles &p, double times) : particles(p), grow(times) {}
    size_t size() const { return static_cast<size_t>(particles.count); }
    void getPos(size_t n, openvdb::Vec3R &x) const { x = openvdb::Vec3R(particles.position[n]); }
    void getPosRad(size_t n, openvdb::Vec3R &x, openvdb::Real &r) const
    {
        getPos(n, x);
        r = grow * particles.radius[n];
    }

  private:
    const rp_vdb_particles &particles;
    double grow;
};

// Spreads each particle over the eight voxels around it.
void splat(const rp_vdb_particles &p, openvdb::FloatGrid &density, openvdb::Vec3SGrid &velocity)
{
    auto mass_at = density.getAccessor();
    auto flow_at = velocity.getAccessor();
    auto weight_grid = openvdb::FloatGrid::create(0.0f);
    auto weight_at = weight_grid->getAccessor();
    const double cell = p.voxel * p.voxel * p.voxel;
    for (int64_t n = 0; n < p.count; n++) {
        const openvdb::Vec3d x = openvdb::Vec3d(p.position[n]) / p.voxel;
        if (!std::isfinite(x.lengthSqr())) {
            continue;
        }
        const openvdb::Coord base = openvdb::Coord::floor(x);
        const openvdb::Vec3d f = x - base.asVec3d();
        const double side = 2.0 * p.radius[n], share = side * side * side / cell;
        for (int k = 0; k < 8; k++) {
            const openvdb::Coord at = base.offsetBy(k & 1, k >> 1 & 1, k >> 2);
            const double w = (k & 1 ? f[0] : 1 - f[0]) * (k >> 1 & 1 ? f[1] : 1 - f[1]) *
                             (k >> 2 ? f[2] : 1 - f[2]);
            const float m = static_cast<float>(w * p.mass[n]);
            mass_at.setValue(at, mass_at.getValue(at) + static_cast<float>(w * share));
            weight_at.setValue(at, weight_at.getValue(at) + m);
            flow_at.setValue(at, flow_at.getValue(at) + m * openvdb::Vec3s(p.velocity[n]));
        }
    }
    for (auto it = velocity.beginValueOn(); it; ++it) {
        const float m = weight_at.getValue(it.getCoord());
        it.setValue(m > 0.0f ? *it / m : openvdb::Vec3s(0.0f));
    }
}

// A closed surface: spheres that overlap, smoothed where they meet, then taken back.
openvdb::FloatGrid::Ptr surface(const rp_vdb_particles &p)
{
    auto grid = openvdb::createLevelSet<openvdb::FloatGrid>(p.voxel, 3.0);
    const double grow = 1.8;
    Spheres spheres(p, grow);
    openvdb::tools::ParticlesToLevelSet<openvdb::FloatGrid> raster(*grid);
    raster.setRmin(0.5);
    raster.rasterizeSpheres(spheres);
    raster.finalize(true);
    if (!grid->empty() && p.count > 0) {
        openvdb::tools::LevelSetFilter<openvdb::FloatGrid> filter(*grid);
        filter.meanCurvature();
        filter.offset(static_cast<float>((grow - 1.0) * p.radius[0]));
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
    auto density = openvdb::FloatGrid::create(0.0f);
    auto velocity = openvdb::Vec3SGrid::create(openvdb::Vec3s(0.0f));
    density->setName("density");
    density->setGridClass(openvdb::GRID_FOG_VOLUME);
    velocity->setName("velocity");
    velocity->setVectorType(openvdb::VEC_CONTRAVARIANT_RELATIVE);
    velocity->insertMeta("unit", openvdb::StringMetadata("m/s"));
    density->setTransform(openvdb::math::Transform::createLinearTransform(p.voxel));
    velocity->setTransform(openvdb::math::Transform::createLinearTransform(p.voxel));
    splat(p, *density, *velocity);
    auto skin = surface(p);
    skin->setName("surface");
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
    Whole().write(file, openvdb::GridCPtrVec{density, velocity, skin}, true, about);
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
