/* A session whose network is built, loaded and, for most tests, given a context. */
#ifndef TENON_TESTS_API_SCENE_H_
#define TENON_TESTS_API_SCENE_H_

#include "tests/api/session.h"

typedef struct scene_t {
  session_t session;
  tenon_plan_t* plan;
  tenon_engine_t* engine;
  tenon_context_t* context;
} scene_t;

static inline bool scene_begin(scene_t* scene) {
  memset(scene, 0, sizeof *scene);
  return session_begin(&scene->session, NULL);
}

/* Builds the network and loads the plan. What fails is a failure of the test. */
static inline bool scene_load(scene_t* scene, const tenon_build_options_t* options) {
  session_t* s = &scene->session;
  session_expect(s, "build", tenon_build(s->network, options, &scene->plan));
  if (scene->plan != NULL) {
    session_expect(s, "load",
                   tenon_engine_create_from_plan(s->registry, scene->plan, NULL, &scene->engine));
  }
  return scene->engine != NULL;
}

/* The same, and makes a context. */
static inline bool scene_start(scene_t* scene, const tenon_build_options_t* options) {
  if (scene_load(scene, options)) {
    session_expect(&scene->session, "context",
                   tenon_context_create(scene->engine, NULL, &scene->context));
  }
  return scene->context != NULL;
}

static inline void scene_end(scene_t* scene) {
  tenon_context_destroy(scene->context);
  tenon_engine_release(scene->engine);
  tenon_plan_destroy(scene->plan);
  session_end(&scene->session);
}

#endif
