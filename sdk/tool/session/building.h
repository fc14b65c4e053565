/*
 * How a plan is to be built: the options of every subcommand that takes a model. The table of
 * options is in building.c: what each means, who it acts on, and which exclude each other stands
 * there, since --help is made of it.
 */
#ifndef TOOL_SESSION_BUILDING_H_
#define TOOL_SESSION_BUILDING_H_

#include "session/constants.h"
#include "tenon/tenon.h"
#include "text/options.h"
#include "text/shape_text.h"

/* The group's structure: texts as given (borrowed from the command line), and below what
 * tool_building_prepare made of them, which tool_building_free frees. NULL, 0 and false mean
 * "not given" everywhere; the library's defaults then hold. */
typedef struct tool_building_t {
  const tool_list_t* prefer; /* names of plugins, of the common options; NULL: none */
  /* Texts; one profile each, at most one. */
  tool_list_t profiles;
  /* The profile as trtexec spells it: three texts; a point that is not given is the optimum. */
  const char* min_shapes;
  const char* opt_shapes;
  const char* max_shapes;
  /* --shapes: extents that inputs are to have, for reading and for running. */
  const char* shapes;
  tool_list_t states; /* INPUT=OUTPUT */
  /* Names, separated by commas, of additional outputs. */
  const char* outputs;
  const char* format;
  /* Files of the same model; before tool_building_prepare also "random[:SEED]". */
  tool_list_t parts;
  tool_list_t settings;       /* NAME=VALUE, for the parser */
  tool_list_t constant_texts; /* NAME=FILE */
  /* To tune for and to run with; 0: the process's processors. */
  uint32_t threads;
  const char* device;
  /* Bytes; 0: no limit. So is memory_limit. */
  uint64_t workspace;
  uint64_t memory_limit;
  /* Seconds; 0: no limit. */
  double time_budget;
  tool_list_t exclude;
  tool_list_t node_devices;
  bool no_measuring;
  bool no_fusion;
  bool reference;
  bool strict;
  bool tuned_only;
  /* What may be less exact. */
  bool tf32;
  bool no_tf32;
  bool fp16;
  bool bf16;
  bool best; /* all three */
  bool nondeterministic;
  tool_list_t samples; /* folders */
  /* How much narrower types may change results; 0: the library's. */
  double accuracy_bound;
  tool_list_t keep;        /* values in their own types */
  uint32_t branch_streams; /* 0: the library's */
  /* Patches; 0: no limit. */
  uint32_t optimizer_limit;
  bool no_refusals;
  bool no_rewrites;
  const char* timing_cache; /* NULL: in the cache folder */
  bool no_timing_cache;
  /* Neither plan nor key is looked for or kept. */
  bool no_cache;
  /* Made of the texts by tool_building_prepare, from here on. */
  bool has_profile;
  /* The profile: minimum, optimum, maximum of each input, in order and without open extents. */
  tool_named_shapes_t ranges;
  /* --shapes; open extents are -1. */
  tool_named_shapes_t fixed;
  tool_constants_t constants; /* of constant_texts */
  /* "weights=random..." of --weights random, among the settings. */
  char* made_setting;
} tool_building_t;

enum { TOOL_BUILDING_OPTION_COUNT = 40 };
extern const tool_option_t tool_building_options[TOOL_BUILDING_OPTION_COUNT];
enum { TOOL_BUILDING_RULE_COUNT = 6 };
extern const tool_option_rule_t tool_building_rules[TOOL_BUILDING_RULE_COUNT];
/* The first of them say how a model is read: the options of a command that builds nothing. */
enum { TOOL_READING_OPTION_COUNT = 12 };
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

/* For who compares with tolerances of f32: tf32 is permitted only where it is named. */
void tool_building_keep_f32(tool_building_t* building);
/* Reads the shapes and the constants' files. INVALID_ARGUMENT, a misuse, for texts that are no
 * shapes and profiles out of order; the file's status for a constant that cannot be read.
 * `building` is to be freed either way. */
tenon_status_t tool_building_prepare(tool_building_t* building);
void tool_building_free(tool_building_t* building);

/* What the library's options point to besides `building`: one profile with a range for each
 * input named. */
typedef struct tool_build_profile_t {
  tenon_profile_t profile;
  tenon_profile_range_t* ranges;
} tool_build_profile_t;
/* The library's options: they point into `building` and *out_profile, which is filled when there
 * is one, and freed by tool_build_profile_free after the build. */
void tool_building_fill(const tool_building_t* building, tool_build_profile_t* out_profile,
                        tenon_build_options_t* out_options);
void tool_build_profile_free(tool_build_profile_t* profile);

/* Everything that changes the plan, as lines, for the cache's key; but for files (model, parts,
 * constants), which the caller adds by their digests. Freed by tool_free. */
char* tool_building_describe(const tool_building_t* building);

#endif
