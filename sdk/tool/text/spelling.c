/* See spelling.h. */
#include "text/spelling.h"

#include <string.h>

enum { WORD_MAX = 40 };

static size_t least_of(size_t a, size_t b) {
  return a < b ? a : b;
}

/* Insertions, omissions, replacements and exchanged neighbours (optimal string alignment). */
static size_t edit_distance(const char* a, const char* b) {
  size_t rows[3][WORD_MAX + 1];
  const size_t length_a = strlen(a);
  const size_t length_b = strlen(b);
  if (length_a > WORD_MAX || length_b > WORD_MAX) {
    return WORD_MAX;
  }
  for (size_t j = 0; j <= length_b; ++j) {
    rows[0][j] = j;
  }
  for (size_t i = 1; i <= length_a; ++i) {
    size_t* row = rows[i % 3];
    const size_t* above = rows[(i + 2) % 3];
    row[0] = i;
    for (size_t j = 1; j <= length_b; ++j) {
      const size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = least_of(replaced, least_of(above[j], row[j - 1]) + 1);
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = least_of(row[j], rows[(i + 1) % 3][j - 2] + 1);
      }
    }
  }
  return rows[length_a % 3][length_b];
}

const char* tool_nearest_word(const char* word, const char* const* words, size_t count) {
  const char* nearest = NULL;
  const size_t length = strlen(word) - strspn(word, "-");
  size_t least = length < 5 ? 2 : length / 3 + 2;
  for (size_t i = 0; i < count; ++i) {
    const size_t distance = edit_distance(word, words[i]);
    if (distance < least) {
      least = distance;
      nearest = words[i];
    }
  }
  return nearest;
}

typedef struct foreign_t {
  const char* name;
  const char* advice;
} foreign_t;

static const char low_precision[] =
    "--fp16 and --bf16 permit narrower types; to quantise, change the model itself";

static const foreign_t foreign[] = {
    {"--onnx", "the model stands without an option: tenon build MODEL -o PLAN"},
    {"--saveEngine", "tenon build MODEL -o PLAN writes a plan"},
    {"--loadEngine", "a plan stands without an option: tenon bench PLAN"},
    {"--buildOnly", "tenon build MODEL -o PLAN builds without running"},
    {"--skipInference", "tenon build MODEL -o PLAN builds without running"},
    {"--warmUp", "it is --warm-up, in seconds where trtexec counts milliseconds"},
    {"--avgRuns",
     "percentiles are printed instead of averages; --iterations is the minimum of runs"},
    {"--dumpProfile", "it is --profile-steps"},
    {"--separateProfileRun", "--profile-steps always has runs of its own"},
    {"--exportProfile", "it is --profile-steps with --json"},
    {"--dumpLayerInfo", "tenon inspect PLAN"},
    {"--exportLayerInfo", "tenon inspect PLAN --json"},
    {"--dumpOutput", "tenon run PLAN --json prints small outputs, -o DIR writes all"},
    {"--exportOutput", "tenon run PLAN -o DIR writes all outputs"},
    {"--loadInputs", "it is --input NAME=FILE, with .npy, .pb or a picture"},
    {"--loadRefOutputs", "it is --data-set DIR, with output_<i>.npy or .pb"},
    {"--timingCacheFile", "it is --timing-cache FILE"},
    {"--noBuilderCache", "it is --no-timing-cache"},
    {"--memPoolSize", "it is --workspace SIZE, such as 64M, or --memory-limit SIZE"},
    {"--builderOptimizationLevel", "--time-budget and --no-measuring bound a build"},
    {"--tacticSources", "--exclude PLUGIN leaves one out"},
    {"--staticPlugins", "it is --plugins DIR"},
    {"--dynamicPlugins", "it is --plugins DIR"},
    {"--useProfile", "a plan has one profile"},
    {"--fp8", low_precision},
    {"--int8", low_precision},
    {"--maxAuxStreams", "it is --branch-streams N, the context's own among them"},
    {"--noTF32", "it is --no-tf32"},
};

const char* tool_foreign_option(const char* name) {
  for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); ++i) {
    if (strcmp(foreign[i].name, name) == 0) {
      return foreign[i].advice;
    }
  }
  return NULL;
}
