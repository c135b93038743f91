// Joints, each by itself: what has got beyond an end of its way is led back to it, and no farther.
#include "collide/joints.h"

#include "check.h"

#include <string.h>

static const double dt = 0.002;

typedef struct machine {
    rp_collider collider[2];
    rp_body body[2];
    rp_link link;
    rp_link_state state;
    rp_bumping m;
} machine;

// Two bodies side by side, one of which is moved along x or turned about z against the other.
static void make_machine(machine *k, rp_joint_kind kind, double way, bool to_the_world)
{
    static const rp_placing unturned = {.rotation = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    const double I[3][3] = {{0.5, 0, 0}, {0, 0.7, 0}, {0, 0, 0.9}};
    memset(k, 0, sizeof *k);
    for (int i = 0; i < 2; i++) {
        k->collider[i] = (rp_collider){.begin = unturned, .end = unturned, .free = true};
        k->body[i] = rp_body_free(&k->collider[i], 3, 2.0 + i, I);
    }
    k->link = (rp_link){.kind = kind, .b = to_the_world ? -1 : 1, .low = -0.2, .high = 0.3};
    const int axis = kind == RP_JOINT_SLIDER ? 0 : 2;
    k->link.axis[0][axis] = k->link.axis[1][axis] = 1.0;
    for (int a = 0; a < 3; a++) {
        k->link.turned[a][a] = 1.0;
    }
    rp_pose pose = {.rotation = {0.0, 0.0, 0.0, 1.0}};
    if (kind == RP_JOINT_SLIDER) {
        pose.position[0] = way;
    } else {
        pose.rotation[2] = sin(0.5 * way);
        pose.rotation[3] = cos(0.5 * way);
    }
    k->body[0].pose = rp_placing_of(&pose);
    for (int i = 0; i < 2; i++) { // nothing is turned much: as in its own frame
        memcpy(k->body[i].turned, k->body[i].inverse, sizeof k->body[i].turned);
    }
    k->m =
        (rp_bumping){.collider = k->collider, .colliders = 2, .body = k->body, .dim = 3, .dt = dt};
    rp_links_begin(&k->link, 1, &k->m, &k->state);
}

// By how much a step's mending changes the way.
static double mended(machine *k)
{
    const int slides = k->link.kind == RP_JOINT_SLIDER;
    for (int round = 0; round < 20; round++) {
        rp_links_mend(&k->link, 1, &k->m, round == 0);
    }
    double rate = slides ? k->body[0].velocity[0] : k->body[0].spin[2];
    rate -= k->link.b < 0 ? 0.0 : slides ? k->body[1].velocity[0] : k->body[1].spin[2];
    return dt * rate;
}

// Beyond either end, of hinges and sliders, to another body and to the world. Without a term for
// ends it stays where it is.
static void what_is_beyond_an_end_is_led_back(void)
{
    static const double ways[5] = {-0.25, -0.2, 0.1, 0.3, 0.34};
    for (int i = 0; i < 20; i++) {
        machine k;
        const double way = ways[i % 5];
        const rp_joint_kind kind = i / 5 % 2 == 0 ? RP_JOINT_HINGE : RP_JOINT_SLIDER;
        make_machine(&k, kind, way, i >= 10);
        check_context("kind %d, at %g, round %d", (int)kind, way, i);
        CHECK_NEAR(k.link.way, way, 1e-12);
        const double off = way < -0.2 ? -0.2 - way : way > 0.3 ? 0.3 - way : 0.0;
        const double back = mended(&k);
        CHECK(off == 0.0 || back / off > 0.5);
        CHECK(fabs(back) <= fabs(off) + 1e-12);
        for (int a = 0; a < 3; a++) { // what one gets, the other gives
            const double all = k.body[0].velocity[a] * 2.0 + k.body[1].velocity[a] * 3.0;
            CHECK_NEAR(i < 10 ? all : 0.0, 0.0, 1e-12);
        }
    }
}

// What mending pushes about does not leave the range.
static void what_is_within_stays_within(void)
{
    machine k;
    make_machine(&k, RP_JOINT_SLIDER, 0.2999, false);
    for (int round = 0; round < 20; round++) {
        rp_links_mend(&k.link, 1, &k.m, round == 0);
        k.body[0].velocity[0] += 0.1; // something that pushes it, every time
    }
    rp_links_mend(&k.link, 1, &k.m, false);
    CHECK_NEAR(k.body[0].velocity[0] - k.body[1].velocity[0], 0.0001 / dt, 1e-9);
}

TEST_MAIN(TEST(what_is_beyond_an_end_is_led_back), TEST(what_is_within_stays_within))
