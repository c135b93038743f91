// Bodies with velocity fields of their own: how scenes and hosts name them.
#include "check.h"
#include "collide/pairs.h"
#include "repose/repose.h"
#include "scene_text.h"

#include <string.h>

#define RUBBER "local rubber = material.elastic {}\n"
#define BALL                                                                                       \
    "particles { material = rubber, body = 'ball', shape = sphere { center = {0,1,0}, radius = "   \
    "0.4 } }\n"
#define BLOCK                                                                                      \
    "particles { material = rubber, body = 'block', shape = box { min = {-1,-1,-1}, max = "        \
    "{1,0.5,1} } }\n"

static rp_world *world_of(const char *text, bool planned)
{
    rp_scene *scene = scene_of(text);
    rp_scene_world_def def = rp_default_scene_world_def();
    def.plan = planned;
    rp_world *world = NULL;
    check_ok(__FILE__, __LINE__, text, rp_scene_create_world(scene, &def, &world));
    rp_scene_free(scene);
    return world;
}

// A body that were numbered by when its particles are made, or by the order of names, would fail.
static void bodies_are_numbered_in_the_order_of_the_scene(void)
{
    rp_world *world = world_of(START RUBBER BLOCK BALL, true);
    char name[RP_NAME_SIZE];
    CHECK_EQUAL(rp_world_bodies(world), 3);
    static const char *const names[] = {"rest", "block", "ball"};
    for (int i = 0; i < 3; i++) {
        rp_world_body_name(world, i, name);
        check_context("body %d is %s", i, name);
        CHECK(strcmp(name, names[i]) == 0);
    }
    rp_world_destroy(world);
}

static void a_scene_without_names_has_one_velocity(void)
{
    rp_world *world = world_of(START SAND, true);
    CHECK_EQUAL(rp_world_bodies(world), 1);
    rp_world_destroy(world);
    world = world_of(START "particles { material = material.sand {}, body = 'rest', shape = box { "
                           "min = {0,0,0}, max = {1,1,1} } }\ncontact { friction = 1 }\n",
                     true);
    CHECK_EQUAL(rp_world_bodies(world), 1);
    rp_world_destroy(world);
}

static void what_is_wrong_with_bodies_is_told_with_its_line(void)
{
    static const struct {
        const char *text, *sentence;
    } cases[] = {
        {START RUBBER BALL BLOCK "contact { bodies = {'ball', 'blok'} }",
         "test.lua:5: contact.bodies: want bodies that particles or emitters name, got 'blok'; did "
         "you mean 'block'?"},
        {START RUBBER BALL BLOCK "contact { bodies = {'ball', 'block', 'rest'} }",
         "test.lua:5: contact.bodies: want two, got 3"},
        {START RUBBER BALL BLOCK "contact { bodies = {'ball', 'ball'} }",
         "contact.bodies[2]: want each string once"},
        {START RUBBER BALL BLOCK "contact { bodies = {'ball'} }", "want a list of 2 to 16 strings"},
        {START RUBBER BALL BLOCK "contact { bodies = {'ball', 'block'} }\n"
                                 "contact { bodies = {'block', 'ball'}, friction = 1 }",
         "test.lua:6: contact.bodies: want each pair once, got 'block' and 'ball' again, as in "
         "line 5"},
        {START RUBBER BALL BLOCK "contact {}\ncontact {}",
         "test.lua:6: contact: want one for all pairs, got another one in line 5"},
        {START RUBBER BALL BLOCK "contact { contact = 'sticky', friction = 0.1 }",
         "test.lua:5: contact.friction: want none with sticky contact"},
        {START RUBBER BALL BLOCK "contact { bodies = {'ball', 'block'}, impulses = 'pairs' }",
         "impulses"},
        {START RUBBER BALL BLOCK "contact { friction = -1 }", "contact.friction: want >= 0"},
        {START RUBBER BLOCK
         "particles { material = rubber, body = 'ball', shape = sphere { center = {0,0.5,0}, "
         "radius = 0.4 } }",
         "test.lua:4: particles.shape: want bodies that do not lie in each other, got 'ball' 0.2 m "
         "deep"},
        {START RUBBER "particles { material = rubber, body = '', shape = sphere { center = "
                      "{0,0.5,0}, radius = 0.4 } }",
         "particles.body: want 1 to 63 bytes, got 0"},
        {START RUBBER BALL "contact { mu = 1 }", "did you mean 'friction'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        check_context("%s", cases[i].text);
        CHECK_ERROR(load(cases[i].text), RP_ERR_ARGUMENT, cases[i].sentence);
    }
}

// Bodies that only touch, or whose shapes are cut out of each other, are fine.
static void bodies_may_touch_at_the_start(void)
{
    CHECK_OK(load(START RUBBER
                  "particles { material = rubber, body = 'a', shape = box { min = {0,0,0}, max = "
                  "{1,1,1} } }\n"
                  "particles { material = rubber, body = 'b', shape = box { min = {0,1,0}, max = "
                  "{1,2,1} } }"));
    CHECK_OK(load(START RUBBER
                  "local ball = sphere { center = {0,0,0}, radius = 0.5 }\n"
                  "particles { material = rubber, body = 'a', shape = ball }\n"
                  "particles { material = rubber, shape = subtract(box { min = {-1,-1,-1}, max = "
                  "{1,1,1} }, ball) }"));
}

static void a_body_without_particles_is_refused(void)
{
    const char *text =
        START RUBBER BLOCK "particles { material = rubber, body = 'none', shape = sphere { center "
                           "= {0,3,0}, radius = 0.001 } }";
    CHECK_ERROR(plan(text, NULL), RP_ERR_ARGUMENT,
                "test.lua:4: particles: none fits into the shape");
}

static void rules_of_pairs_are_found_again(void)
{
    rp_pairs pairs = rp_pairs_default();
    const rp_allocator *a = rp_default_allocator();
    for (int i = 0; i < 200; i++) {
        const int b = i * 37 % 200, d = 1000 + i * 11 % 200;
        const rp_pair_rule rule = {.friction = b + 1e-3 * d};
        CHECK_OK(rp_pairs_set(&pairs, a, i % 2 == 0 ? b : d, i % 2 == 0 ? d : b, &rule));
        CHECK_OK(rp_pairs_set(&pairs, a, b, d, &rule)); // again: the last word counts
    }
    CHECK_EQUAL(pairs.count, 200);
    for (int i = 0; i < 200; i++) {
        const int b = i * 37 % 200, d = 1000 + i * 11 % 200;
        CHECK_NEAR(rp_pairs_rule(&pairs, b, d)->friction, b + 1e-3 * d, 0.0);
    }
    CHECK_NEAR(rp_pairs_rule(&pairs, 0, 1)->friction, 0.0, 0.0);
    CHECK(rp_pairs_rule(&pairs, 0, 1)->gap);
    rp_pairs_free(&pairs, a);
}

static void hosts_are_told_what_is_wrong_with_a_pair(void)
{
    rp_world_def def = rp_default_world_def();
    def.dx = 0.1;
    def.fields = 3;
    rp_world *world;
    rp_pair_def pair = rp_default_pair_def();
    CHECK_OK(rp_world_create(&def, &world));
    CHECK_ERROR(rp_world_set_contact(world, &pair), RP_ERR_ARGUMENT, "rp_world_def.contact");
    rp_world_destroy(world);
    def.contact = true;
    CHECK_OK(rp_world_create(&def, &world));
    CHECK_OK(rp_world_set_contact(world, &pair));
    pair.body[0] = 1;
    CHECK_ERROR(rp_world_set_contact(world, &pair), RP_ERR_ARGUMENT, "contact.bodies: want 0 to 2");
    pair.body[1] = 1;
    CHECK_ERROR(rp_world_set_contact(world, &pair), RP_ERR_ARGUMENT, "got 1 twice");
    pair.body[1] = 2;
    pair.contact = RP_SLIP;
    CHECK_ERROR(rp_world_set_contact(world, &pair), RP_ERR_ARGUMENT, "contact.contact");
    pair.contact = RP_STICKY;
    CHECK_OK(rp_world_set_contact(world, &pair));
    pair.impulses = RP_IMPULSES_PAIRS;
    CHECK_ERROR(rp_world_set_contact(world, &pair), RP_ERR_ARGUMENT, "contact.impulses");
    CHECK_ERROR(rp_world_name_body(world, 3, "a"), RP_ERR_ARGUMENT, "body: want 0 to 2, got 3");
    CHECK_ERROR(rp_world_name_body(world, 1, ""), RP_ERR_ARGUMENT, "body.name");
    CHECK_OK(rp_world_name_body(world, 2, "ball"));
    char name[RP_NAME_SIZE];
    rp_world_body_name(world, 1, name);
    CHECK(strcmp(name, "body 1") == 0);
    rp_world_body_name(world, 2, name);
    CHECK(strcmp(name, "ball") == 0);
    rp_world_destroy(world);
}

TEST_MAIN(TEST(bodies_are_numbered_in_the_order_of_the_scene),
          TEST(a_scene_without_names_has_one_velocity),
          TEST(what_is_wrong_with_bodies_is_told_with_its_line),
          TEST(bodies_may_touch_at_the_start), TEST(a_body_without_particles_is_refused),
          TEST(rules_of_pairs_are_found_again), TEST(hosts_are_told_what_is_wrong_with_a_pair))
