/* What subcommands have in common: the structures that options fill, and what is made of them. One
 * function parses, runs and frees. */
#ifndef TOOL_SESSION_TASK_H_
#define TOOL_SESSION_TASK_H_

#include "session/building.h"
#include "session/common.h"
#include "session/feed.h"

/* A part of the subcommand's own structure. Members that a subcommand does not use stay zero. */
typedef struct tool_task_t {
  tool_common_t common;
  tool_building_t building;
  tool_feeding_t feeding;
  const char* model; /* the operand; NULL: none */
  const tool_arguments_t* arguments;
  tenon_registry_t* registry;
  tool_feed_t feed;
  /* Results differ, cases failed or something is missing: exit status 1. */
  bool different;
} tool_task_t;

/* A subcommand, and how to run it. */
typedef struct tool_subcommand_t {
  const tool_command_t* command;
  const tool_option_group_t* groups;
  size_t group_count;
  tool_task_t* task;
  tenon_status_t (*run)(void* user); /* after the options are parsed */
  void* user;                        /* the subcommand's structure */
} tool_subcommand_t;

/* Returns the exit status. */
int tool_task_run(const tool_subcommand_t* subcommand, int argc, char** argv);

#endif
