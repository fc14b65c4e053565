/*
 * From a model file to a network with all shapes that are given, and from a model or plan to a plan
 * that can be loaded: the file given, one of the cache, or one that is built.
 */
#ifndef TOOL_SESSION_MODEL_H_
#define TOOL_SESSION_MODEL_H_

#include "session/building.h"
#include "session/feed.h"

/* Parses the model. Without a profile, open extents of inputs become those of the data given, of
 * --shapes, of --batch on the first axis, else 1, each of the last with a line in *out_notes (a
 * warning was printed). Marks additional outputs. `notes` is freed by tool_free. */
tenon_status_t tool_network_open(tenon_registry_t* registry, const char* path,
                                 const tool_building_t* building, const tool_feed_t* feed,
                                 tenon_network_t** out_network, char** out_notes);

/* Parses the model and leaves open what the model and the options leave open. What is given must
 * fit the inputs here too; --batch alone, which closes extents, is refused. On failure the network
 * (or NULL) holds what the file says of itself: inputs, outputs, node types. */
tenon_status_t tool_network_read(tenon_registry_t* registry, const char* path,
                                 const tool_building_t* building, const tool_feed_t* feed,
                                 tenon_network_t** out_network);

/* How a plan file came to be there: told to the user, and by bench in its report. */
typedef enum tool_cache_use_t {
  TOOL_CACHE_PLAN, /* the operand was a plan already */
  /* --no-cache, or no folder that can be written. */
  TOOL_CACHE_OFF,
  TOOL_CACHE_HIT,
  TOOL_CACHE_MISS
} tool_cache_use_t;

/* A plan to load, and its origin. Freed by tool_plan_file_free. */
typedef struct tool_plan_file_t {
  char* path;         /* NULL: it is in memory only */
  tenon_plan_t* plan; /* NULL: it is in the file */
  tool_cache_use_t use;
  double build_seconds; /* 0 unless it was built now */
} tool_plan_file_t;

/* True for a plan, whatever its name. */
tenon_status_t tool_file_is_plan(const char* path, bool* out_is_plan);
/* The same, and refuses options that are for building where it is a plan. */
tenon_status_t tool_operand_check(const tool_arguments_t* arguments, const char* path,
                                  bool* out_is_plan);
/* Can the file that `option` names be written? Refuses (a misuse) what is read: the model or plan,
 * its parts, the values of constants, the data of a feed; and what tool_file_check refuses. After
 * tool_building_prepare, and before the time of a build is spent. */
tenon_status_t tool_output_check(const char* option, const char* path, const char* model,
                                 const tool_building_t* building, const tool_feed_t* feed);
/* Finds the plan in the cache or builds it. `rebuild`: an entry that is there is no good. */
tenon_status_t tool_plan_file_obtain(tenon_registry_t* registry, const char* model,
                                     const tool_building_t* building, const tool_feed_t* feed,
                                     bool rebuild, tool_plan_file_t* out_file);
void tool_plan_file_free(tool_plan_file_t* file);
/* "hit", "miss", "off", "plan": as --json has it. */
const char* tool_cache_use_text(tool_cache_use_t use);

/* Builds a network, with progress and the timing cache. CANCELLED after an interrupt, in the last
 * phase too. */
tenon_status_t tool_build_plan(tenon_registry_t* registry, tenon_network_t* network,
                               const tool_building_t* building, tenon_plan_t** out_plan,
                               uint32_t* out_timing_entries);
/* Writes the plan, whole or not at all. */
tenon_status_t tool_plan_write(const tenon_plan_t* plan, const char* path);

#endif
