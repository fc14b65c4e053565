/* Traits: "; "-separated words, some with arguments in parentheses: "linear(input=1, axis=0)". */
#include <stdlib.h>
#include <string.h>

#include "core/base/status.h"
#include "core/operator/operator_admit.h"

enum { MAX_ARGUMENTS = 6, MAX_WORD = 48 };

typedef struct argument_t {
  char key[MAX_WORD]; /* "" for a bare word */
  char value[MAX_WORD];
} argument_t;

typedef struct trait_t {
  char name[MAX_WORD];
  uint32_t argument_count;
  argument_t arguments[MAX_ARGUMENTS];
} trait_t;

static const char* skip_space(const char* at) {
  return at + strspn(at, " \t\n");
}

/* A word up to one of `ends`, without trailing space; NULL when it is too long. */
static const char* take_word(const char* at, const char* ends, char out_word[MAX_WORD]) {
  at = skip_space(at);
  const size_t length = strcspn(at, ends);
  size_t kept = length;
  while (kept > 0 && strchr(" \t\n", at[kept - 1]) != NULL) {
    --kept;
  }
  if (kept >= MAX_WORD) {
    return NULL;
  }
  memcpy(out_word, at, kept);
  out_word[kept] = '\0';
  return at + length;
}

static const char* take_arguments(const char* at, trait_t* trait) {
  while (*at != ')') {
    if (trait->argument_count == MAX_ARGUMENTS) {
      return NULL;
    }
    argument_t* argument = &trait->arguments[trait->argument_count++];
    argument->key[0] = '\0';
    at = take_word(at, "=,|)", argument->value);
    if (at != NULL && *at == '=') {
      memcpy(argument->key, argument->value, MAX_WORD);
      at = take_word(at + 1, ",|)", argument->value);
    }
    if (at == NULL || *at == '\0') {
      return NULL;
    }
    at += *at != ')';
  }
  return skip_space(at + 1);
}

/* The next trait; NULL at a fault. */
static const char* take_trait(const char* at, trait_t* out_trait) {
  out_trait->argument_count = 0;
  at = take_word(at, "(;", out_trait->name);
  if (at != NULL && *at == '(') {
    at = take_arguments(at + 1, out_trait);
  }
  if (at == NULL || (*at != ';' && *at != '\0')) {
    return NULL;
  }
  return skip_space(at + (*at == ';'));
}

/* The value of an argument; NULL: it is not there. */
static const char* argument(const trait_t* trait, const char* key) {
  for (uint32_t i = 0; i < trait->argument_count; ++i) {
    if (strcmp(trait->arguments[i].key, key) == 0) {
      return trait->arguments[i].value;
    }
  }
  return NULL;
}

static bool argument_int(const trait_t* trait, const char* key, int32_t* out_number) {
  const char* text = argument(trait, key);
  char* end = NULL;
  const long value = text == NULL ? 0 : strtol(text, &end, 10);
  *out_number = (int32_t)value;
  return text != NULL && end != text && *end == '\0' && value >= -64 && value <= 4096;
}

/* An input by number or by name. */
static bool argument_input(const tenon__descriptor_t* op, const trait_t* trait, const char* key,
                           bool required, uint32_t* inout) {
  const char* value = argument(trait, key);
  if (value == NULL) {
    return !required;
  }
  int32_t number = -1;
  const uint32_t named = tenon__operator_input(op, value);
  if (named == TENON_NONE && (!argument_int(trait, key, &number) || number < 0)) {
    return false;
  }
  *inout = named == TENON_NONE ? (uint32_t)number : named;
  return *inout < op->input_count;
}

/* An integer attribute by name, if the trait names one. */
static bool argument_attribute(const tenon__descriptor_t* op, const trait_t* trait, const char* key,
                               const char** out_name) {
  const char* value = argument(trait, key);
  *out_name = NULL;
  if (value == NULL) {
    return true;
  }
  const uint32_t index = tenon__operator_attribute(op, value);
  if (index == TENON_NONE || op->attributes[index].kind != TENON_ATTRIBUTE_INT) {
    return false;
  }
  *out_name = op->attributes[index].name;
  return true;
}

/* 1 taken, 0 unknown, -1 malformed. */
static int take_with_arguments(const tenon__descriptor_t* op, const trait_t* trait,
                               tenon__operator_traits_t* traits) {
  bool good = true;
  uint32_t input = 0;
  if (strcmp(trait->name, "linear") == 0) {
    traits->linear = true;
    good = argument_input(op, trait, "input", true, &traits->linear_input) &&
           argument_int(trait, "axis", &traits->linear_axis) &&
           argument_int(trait, "output_axis", &traits->linear_output_axis) &&
           argument_input(op, trait, "bias", false, &traits->linear_bias);
  } else if (strcmp(trait->name, "concatenable") == 0) {
    traits->concatenable = true;
    good = argument_int(trait, "axis", &traits->concatenable_axis) &&
           argument_int(trait, "output_axis", &traits->concatenable_output_axis) &&
           argument_attribute(op, trait, "single", &traits->concatenable_single);
  } else if (strcmp(trait->name, "in_place") == 0) {
    good = argument_input(op, trait, "input", true, &input);
  } else {
    return 0;
  }
  return good ? 1 : -1;
}

static bool take_flag(const trait_t* trait, tenon__operator_traits_t* traits) {
  const struct {
    const char* name;
    bool* flag;
  } flags[] = {
      {"impure", &traits->impure},
      {"not_foldable", &traits->not_foldable},
      {"transparent", NULL},
      {"extents", NULL},
      {"pure", NULL},
  };
  for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); ++i) {
    if (strcmp(trait->name, flags[i].name) == 0) {
      if (flags[i].flag != NULL) {
        *flags[i].flag = true;
      }
      return true;
    }
  }
  return false;
}

tenon_status_t tenon__operator_traits_parse(const tenon__descriptor_t* op, const tenon_sink_t* sink,
                                            tenon__operator_traits_t* out_traits) {
  tenon__operator_traits_t traits = {.linear_bias = TENON_NONE};
  const char* at = op->traits == NULL ? "" : skip_space(op->traits);
  while (*at != '\0') {
    trait_t trait;
    const char* next = take_trait(at, &trait);
    const int taken =
        next == NULL || take_flag(&trait, &traits) ? 1 : take_with_arguments(op, &trait, &traits);
    if (next == NULL || taken < 0) {
      return tenon__fail(sink, TENON_ERROR_INVALID_DATA, "traits: malformed at '%.40s'", at);
    }
    if (taken == 0) {
      tenon__report(sink, TENON_SEVERITY_WARNING, "traits: '%s' is not known here and is ignored",
                    trait.name);
    }
    at = next;
  }
  *out_traits = traits;
  return TENON_OK;
}
