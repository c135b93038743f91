// Mesh files, read by assimp and believed in nothing.
#include "base/result.h"
#include "shape/mesh.h"

#include <assimp/cimport.h>
#include <assimp/config.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool ends_in(const char *path, const char *ending)
{
    const size_t length = strlen(path), n = strlen(ending);
    return length > n && strcasecmp(path + length - n, ending) == 0;
}

// Assimp knows many more formats; these are the ones that are tested.
static bool has_known_ending(const char *path)
{
    return ends_in(path, ".obj") || ends_in(path, ".stl") || ends_in(path, ".ply") ||
           ends_in(path, ".gltf") || ends_in(path, ".glb");
}

// Appends the triangles of one mesh; points and lines are left out.
static rp_result add_mesh(const char *path, const struct aiMesh *from, rp_mesh *to)
{
    double(*place)[3] = rp_mesh_place(to) + to->places;
    for (unsigned i = 0; i < from->mNumVertices; i++) {
        const struct aiVector3D v = from->mVertices[i];
        if (!isfinite(v.x) || !isfinite(v.y) || !isfinite(v.z)) {
            return rp_fail(RP_ERR_FILE, "%s: vertex %u is not finite: (%g, %g, %g)", path, i,
                           (double)v.x, (double)v.y, (double)v.z);
        }
        place[i][0] = (double)v.x;
        place[i][1] = (double)v.y;
        place[i][2] = (double)v.z;
    }
    for (unsigned i = 0; i < from->mNumFaces; i++) {
        const struct aiFace *face = &from->mFaces[i];
        int32_t *triangle = rp_mesh_triangle(to)[to->triangles];
        for (unsigned k = 0; k < 3 && face->mNumIndices == 3; k++) {
            if (face->mIndices[k] >= from->mNumVertices) {
                return rp_fail(RP_ERR_FILE, "%s: triangle %u wants vertex %u of %u", path, i,
                               face->mIndices[k], from->mNumVertices);
            }
            triangle[k] = to->places + (int32_t)face->mIndices[k];
        }
        to->triangles += face->mNumIndices == 3;
    }
    to->places += (int32_t)from->mNumVertices;
    return RP_OK;
}

static rp_result add_scene(const char *path, const struct aiScene *scene, rp_mesh *out)
{
    int64_t places = 0, triangles = 0;
    for (unsigned m = 0; m < scene->mNumMeshes; m++) {
        places += scene->mMeshes[m]->mVertices != NULL ? scene->mMeshes[m]->mNumVertices : 0;
        triangles += scene->mMeshes[m]->mFaces != NULL ? scene->mMeshes[m]->mNumFaces : 0;
    }
    RP_TRY(rp_mesh_reserve(out, places, triangles));
    for (unsigned m = 0; m < scene->mNumMeshes; m++) {
        if (scene->mMeshes[m]->mVertices != NULL && scene->mMeshes[m]->mFaces != NULL) {
            RP_TRY(add_mesh(path, scene->mMeshes[m], out));
        }
    }
    if (out->triangles == 0) {
        return rp_fail(RP_ERR_FILE, "%s: there is no triangle in it", path);
    }
    return RP_OK;
}

// A PLY file says how much of everything there is, and assimp makes room for it; nothing takes less
// than a byte.
static rp_result check_promises(const char *path, FILE *file, long long size)
{
    char line[256], element[64];
    long long count;
    for (int lines = 0; lines < 1000 && fgets(line, sizeof line, file) != NULL; lines++) {
        if (strncmp(line, "end_header", 10) == 0) {
            break;
        }
        if (sscanf(line, " element %63s %lld", element, &count) == 2 &&
            (count < 0 || count > size)) {
            return rp_fail(RP_ERR_FILE, "%s: promises %lld of element %s in %lld bytes", path,
                           count, element, size);
        }
    }
    return RP_OK;
}

static rp_result check_file(const char *path, FILE *file)
{
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        return rp_fail(RP_ERR_FILE, "%s: cannot be read: %s", path, strerror(errno));
    }
    const long long size = ftell(file);
    rewind(file);
    if (fgetc(file) == EOF) {
        return rp_fail(RP_ERR_FILE, "%s: cannot be read: %s", path,
                       ferror(file) ? strerror(errno) : "it is empty");
    }
    rewind(file);
    return ends_in(path, ".ply") ? check_promises(path, file, size) : RP_OK;
}

rp_result rp_mesh_read(const char *path, rp_mesh *out)
{
    if (!has_known_ending(path)) {
        return rp_fail(RP_ERR_FILE, "%s: want a mesh that ends in .obj, .stl, .ply, .gltf or .glb",
                       path);
    }
    FILE *file = fopen(path, "rb");
    const rp_result readable = check_file(path, file);
    if (file != NULL) {
        fclose(file);
    }
    RP_TRY(readable);
    // only places and faces matter, and parts in their places
    struct aiPropertyStore *settings = aiCreatePropertyStore();
    aiSetImportPropertyInteger(settings, AI_CONFIG_PP_RVC_FLAGS,
                               aiComponent_NORMALS | aiComponent_TANGENTS_AND_BITANGENTS |
                                   aiComponent_COLORS | aiComponent_TEXCOORDS |
                                   aiComponent_BONEWEIGHTS | aiComponent_ANIMATIONS |
                                   aiComponent_TEXTURES | aiComponent_LIGHTS | aiComponent_CAMERAS);
    const struct aiScene *scene = aiImportFileExWithProperties(
        path, aiProcess_RemoveComponent | aiProcess_Triangulate | aiProcess_PreTransformVertices,
        NULL, settings);
    aiReleasePropertyStore(settings);
    if (scene == NULL) {
        return rp_fail(RP_ERR_FILE, "%s: cannot be read as a mesh: %s", path, aiGetErrorString());
    }
    const rp_result result = add_scene(path, scene, out);
    aiReleaseImport(scene);
    return result;
}
