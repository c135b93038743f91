#include "collide/placing.h"

#include "base/three.h"

#include <math.h>
#include <string.h>

static void rotation_matrix(const double q[4], double R[3][3])
{
    const double n = 2.0 / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        R[i][i] = 1.0 - n * (q[j] * q[j] + q[k] * q[k]);
        R[i][j] = n * (q[i] * q[j] - q[k] * q[3]);
        R[j][i] = n * (q[i] * q[j] + q[k] * q[3]);
    }
}

rp_placing rp_placing_of(const rp_pose *pose)
{
    rp_placing at;
    memcpy(at.position, pose->position, sizeof at.position);
    rotation_matrix(pose->rotation, at.rotation);
    return at;
}

rp_pose rp_placing_pose(const rp_placing *at)
{
    const double(*R)[3] = at->rotation;
    rp_pose pose;
    memcpy(pose.position, at->position, sizeof pose.position);
    // the largest component first, so that nothing small is divided by
    const double trace = R[0][0] + R[1][1] + R[2][2];
    int i = R[1][1] > R[0][0] ? 1 : 0;
    i = R[2][2] > R[i][i] ? 2 : i;
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    if (trace >= R[i][i]) {
        pose.rotation[3] = 1.0 + trace;
        for (int a = 0; a < 3; a++) {
            pose.rotation[a] = R[(a + 2) % 3][(a + 1) % 3] - R[(a + 1) % 3][(a + 2) % 3];
        }
    } else {
        pose.rotation[i] = 1.0 + R[i][i] - R[j][j] - R[k][k];
        pose.rotation[j] = R[i][j] + R[j][i];
        pose.rotation[k] = R[i][k] + R[k][i];
        pose.rotation[3] = R[k][j] - R[j][k];
    }
    const double *q = pose.rotation;
    const double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int a = 0; a < 4; a++) {
        pose.rotation[a] /= length;
    }
    return pose;
}

void rp_placing_go_along(const rp_placing *parent, rp_placing *own)
{
    rp_placing out;
    rp_rotate(parent->rotation, own->position, out.position);
    for (int a = 0; a < 3; a++) {
        out.position[a] += parent->position[a];
        for (int b = 0; b < 3; b++) {
            out.rotation[a][b] = 0.0;
            for (int k = 0; k < 3; k++) {
                out.rotation[a][b] += parent->rotation[a][k] * own->rotation[k][b];
            }
        }
    }
    *own = out;
}

void rp_placing_turn(const rp_placing *from, const rp_placing *to, double out[3])
{
    rp_placing between = {0};
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b < 3; b++) {
            for (int k = 0; k < 3; k++) {
                between.rotation[a][b] += to->rotation[a][k] * from->rotation[b][k];
            }
        }
    }
    const rp_pose turn = rp_placing_pose(&between);
    const double *q = turn.rotation, sign = q[3] < 0.0 ? -1.0 : 1.0;
    const double sine = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]);
    // of the half angle, whose cosine is not negative
    const double scale = sine > 0.0 ? 2.0 * rp_angle_of(sine, sign * q[3]) / sine : 0.0;
    for (int a = 0; a < 3; a++) {
        out[a] = sign * scale * q[a];
    }
}

void rp_box_corner(const double lower[3], const double upper[3], int number, double out[3])
{
    for (int a = 0; a < 3; a++) {
        out[a] = number >> a & 1 ? upper[a] : lower[a];
    }
}

void rp_placing_bounds(const rp_placing *at, const double lower[3], const double upper[3],
                       double out[2][3])
{
    for (int i = 0; i < 8; i++) {
        double x[3], turned[3];
        rp_box_corner(lower, upper, i, x);
        rp_rotate(at->rotation, x, turned);
        for (int a = 0; a < 3; a++) {
            const double there = turned[a] + at->position[a];
            out[0][a] = i == 0 ? there : fmin(out[0][a], there);
            out[1][a] = i == 0 ? there : fmax(out[1][a], there);
        }
    }
}
