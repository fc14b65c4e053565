/* How a plan is to be built: the options of every subcommand that takes a model. */
#ifndef TOOL_SESSION_BUILDING_H_
#define TOOL_SESSION_BUILDING_H_

#include "session/constants.h"
#include "tenon/tenon.h"
#include "text/options.h"
#include "text/shape_text.h"

typedef struct tool_building_t {
  /* What to build. */
  tool_list_t profiles; /* texts; one profile each, at most one */
  const char* min_shapes;
  const char* opt_shapes;
  const char* max_shapes;
  const char* shapes;
  const char* outputs; /* names, separated by commas */
  const char* format;
  tool_list_t parts;
  tool_list_t settings;       /* NAME=VALUE, for the parser */
  tool_list_t constant_texts; /* NAME=FILE */
  /* How. */
  uint32_t threads;
  const char* device;
  uint64_t workspace;
  uint64_t memory_limit;
  double time_budget;
  tool_list_t exclude;
  bool no_measuring;
  bool no_fusion;
  bool reference;
  bool strict;
  bool tuned_only;
  bool reduced_precision;
  uint32_t optimizer_limit;
  bool no_refusals;
  bool no_rewrites;
  /* Caches. */
  const char* timing_cache;
  bool no_timing_cache;
  bool no_cache;
  /* Made of the texts by tool_building_prepare. */
  bool has_profile;
  tool_named_shapes_t ranges; /* the profile: minimum, optimum, maximum */
  tool_named_shapes_t fixed;  /* --shapes */
  tool_constants_t constants; /* of constant_texts */
  char* made_setting;         /* of --weights random, among the settings */
} tool_building_t;

enum { TOOL_BUILDING_OPTION_COUNT = 29 };
extern const tool_option_t tool_building_options[TOOL_BUILDING_OPTION_COUNT];
enum { TOOL_BUILDING_RULE_COUNT = 3 };
extern const tool_option_rule_t tool_building_rules[TOOL_BUILDING_RULE_COUNT];
/* The first of them say how a model is read: the options of a command that builds nothing. */
enum { TOOL_READING_OPTION_COUNT = 11 };
#define TOOL_READING_GROUP(target)                                                   \
  {                                                                                  \
    "reading the model", tool_building_options, TOOL_READING_OPTION_COUNT, (target), \
        tool_building_rules, TOOL_BUILDING_RULE_COUNT, true                          \
  }
#define TOOL_BUILDING_GROUP(target, is_subject)                                                   \
  {                                                                                               \
    "building", tool_building_options, TOOL_BUILDING_OPTION_COUNT, (target), tool_building_rules, \
        TOOL_BUILDING_RULE_COUNT, (is_subject)                                                    \
  }

/* Reads the shapes and the constants' files. INVALID_ARGUMENT. */
tenon_status_t tool_building_prepare(tool_building_t* building);
void tool_building_free(tool_building_t* building);

/* The library's options. Points into `building` and `profile`, which is filled when there is one.
 */
typedef struct tool_build_profile_t {
  tenon_profile_t profile;
  tenon_profile_range_t* ranges;
} tool_build_profile_t;
void tool_building_fill(const tool_building_t* building, tool_build_profile_t* out_profile,
                        tenon_build_options_t* out_options);
void tool_build_profile_free(tool_build_profile_t* profile);

/* Everything that changes the plan, as lines, for the cache's key. */
char* tool_building_describe(const tool_building_t* building);

#endif
