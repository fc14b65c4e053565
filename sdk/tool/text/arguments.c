/* Do the options that are given act, and beside one another? See options.h. */
#include <string.h>

#include "text/console.h"
#include "text/memory.h"
#include "text/options.h"

void tool_list_add(tool_list_t* list, const char* item) {
  list->items = tool_grow((void*)list->items, &list->capacity, list->count + 2, sizeof(char*));
  list->items[list->count++] = item;
  list->items[list->count] = NULL;
}

void tool_list_free(tool_list_t* list) {
  tool_free((void*)list->items);
  *list = (tool_list_t){0};
}

void tool_arguments_free(tool_arguments_t* arguments) {
  tool_list_free(&arguments->operands);
  tool_free(arguments->given);
  *arguments = (tool_arguments_t){0};
}

/* The first that is given of names with blanks between; NULL: none. */
static const tool_option_t* find_given(const tool_arguments_t* arguments, const char* names) {
  while (*names != '\0') {
    const size_t length = strcspn(names, " ");
    for (size_t i = 0; i < arguments->given_count; ++i) {
      const char* name = arguments->given[i].option->name;
      if (strncmp(name, names, length) == 0 && name[length] == '\0') {
        return arguments->given[i].option;
      }
    }
    names += length + (names[length] == ' ' ? 1 : 0);
  }
  return NULL;
}

bool tool_arguments_have(const tool_arguments_t* arguments, const char* option) {
  return find_given(arguments, option) != NULL;
}

static bool follows(const tool_arguments_t* arguments, const tool_option_rule_t* rule) {
  if (find_given(arguments, rule->name) == NULL) {
    return true;
  }
  if (rule->needs != NULL && find_given(arguments, rule->needs) == NULL) {
    (void)tool_misuse("%s does nothing without %s%s", rule->name,
                      strchr(rule->needs, ' ') != NULL ? "one of " : "", rule->needs);
    return false;
  }
  const tool_option_t* other = rule->against != NULL ? find_given(arguments, rule->against) : NULL;
  if (other != NULL) {
    (void)tool_misuse("%s and %s contradict each other", rule->name, other->name);
    return false;
  }
  return true;
}

bool tool_arguments_follow(const tool_arguments_t* arguments, const tool_option_group_t* groups,
                           size_t group_count) {
  bool good = true;
  for (size_t g = 0; g < group_count; ++g) {
    for (size_t i = 0; i < groups[g].rule_count && good; ++i) {
      good = follows(arguments, &groups[g].rules[i]);
    }
  }
  return good;
}

static const char* purpose(uint32_t traits) {
  return (traits & TOOL_FOR_BUILDING) != 0  ? "building"
         : (traits & TOOL_FOR_PARSING) != 0 ? "reading a model"
         : (traits & TOOL_FOR_RUNNING) != 0 ? "running"
                                            : "looking at a plan";
}

tenon_status_t tool_arguments_check(const tool_arguments_t* arguments, uint32_t happens,
                                    const char* because) {
  const uint32_t any = TOOL_FOR_MODELS | TOOL_FOR_PLANS | TOOL_FOR_RUNNING;
  for (size_t i = 0; i < arguments->given_count; ++i) {
    const tool_option_t* option = arguments->given[i].option;
    if ((option->traits & any) != 0 && (option->traits & happens) == 0) {
      return tool_misuse("%s is for %s; %s", option->name, purpose(option->traits), because);
    }
  }
  return TENON_OK;
}
