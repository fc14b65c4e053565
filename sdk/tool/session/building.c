/* See building.h. */
#include "session/building.h"

#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "text/console.h"
#include "text/memory.h"

#define FIELD(name) offsetof(tool_building_t, name)

const tool_option_t tool_building_options[TOOL_BUILDING_OPTION_COUNT] = {
    /* Reading: TOOL_READING_OPTION_COUNT of them. */
    {"--profile", NULL, "SPEC", TOOL_OPTION_LIST, FIELD(profiles), TOOL_FOR_MODELS,
     "build for these shapes: NAME:MIN:OPT:MAX for each dynamic input, separated by commas, such "
     "as image:1x3x224x224:4x3x224x224:8x3x224x224,ids:1x16:1x64:1x512; NAME:SHAPE if all three "
     "are equal (default: the shapes of the inputs given, else 1)"},
    {"--shapes", NULL, "SPEC", TOOL_OPTION_TEXT, FIELD(shapes), TOOL_FOR_MODELS | TOOL_FOR_RUNNING,
     "set the shapes of inputs: image:1x3x224x224,ids:1x128 (\"scalar\" has rank 0, ? stays "
     "dynamic)"},
    {"--minShapes", NULL, "SPEC", TOOL_OPTION_TEXT, FIELD(min_shapes), TOOL_FOR_MODELS | TOOL_RARE,
     "set the profile in trtexec's spelling, with --optShapes and --maxShapes"},
    {"--optShapes", NULL, "SPEC", TOOL_OPTION_TEXT, FIELD(opt_shapes), TOOL_FOR_MODELS, NULL},
    {"--maxShapes", NULL, "SPEC", TOOL_OPTION_TEXT, FIELD(max_shapes), TOOL_FOR_MODELS, NULL},
    {"--input-constant", NULL, "NAME=FILE", TOOL_OPTION_LIST, FIELD(constant_texts),
     TOOL_FOR_PARSING | TOOL_RARE,
     "give the build an input's value (.npy or .pb) to rely on, such as the axes of a reduction; "
     "the plan does not have this input"},
    {"--outputs", NULL, "NAME,...", TOOL_OPTION_TEXT, FIELD(outputs), TOOL_FOR_PARSING,
     "add outputs: any tensors of the main graph"},
    {"--state", NULL, "INPUT=OUTPUT", TOOL_OPTION_LIST, FIELD(states), TOOL_FOR_PARSING | TOOL_RARE,
     "keep an input in the context, and replace it by the output after each run, such as a "
     "decoder's cache; a * stands for the same text in both: past.*=present.*"},
    {"--part", NULL, "FILE", TOOL_OPTION_LIST, FIELD(parts), TOOL_FOR_PARSING | TOOL_RARE,
     "read another file of the same model, such as a caffemodel beside its prototxt"},
    {"--weights", NULL, "FILE", TOOL_OPTION_LIST, FIELD(parts), TOOL_FOR_PARSING,
     "read a part with weights: a caffemodel, a binaryproto's mean; random[:SEED] makes weights "
     "up"},
    {"--setting", NULL, "NAME=VALUE", TOOL_OPTION_LIST, FIELD(settings),
     TOOL_FOR_PARSING | TOOL_RARE,
     "set an option of the format's parser: stage=deploy for a prototxt"},
    {"--format", NULL, "NAME", TOOL_OPTION_TEXT, FIELD(format), TOOL_FOR_PARSING | TOOL_RARE,
     "set the model's format, if it cannot be guessed"},
    /* Building. */
    {"--threads", NULL, "N", TOOL_OPTION_COUNT, FIELD(threads),
     TOOL_FOR_BUILDING | TOOL_FOR_RUNNING,
     "tune for and run with N threads (default: the process's processors)"},
    {"--device", NULL, "NAME[:N],...", TOOL_OPTION_TEXT, FIELD(device),
     TOOL_FOR_BUILDING | TOOL_RARE,
     "use these devices in order of preference, and the host for the rest (default: the host)"},
    {"--node-device", NULL, "NODE=DEVICE", TOOL_OPTION_LIST, FIELD(node_devices),
     TOOL_FOR_BUILDING | TOOL_RARE,
     "compute a node on this one of the build's devices, or on the host"},
    {"--workspace", NULL, "SIZE", TOOL_OPTION_SIZE, FIELD(workspace), TOOL_FOR_BUILDING | TOOL_RARE,
     "limit the scratch memory of any step, such as 64M (default: no limit)"},
    {"--memory-limit", NULL, "SIZE", TOOL_OPTION_SIZE, FIELD(memory_limit),
     TOOL_FOR_BUILDING | TOOL_RARE,
     "fail if activations and workspace need more memory (default: no limit)"},
    {"--time-budget", NULL, "S", TOOL_OPTION_AMOUNT, FIELD(time_budget),
     TOOL_FOR_BUILDING | TOOL_RARE,
     "measure for at most S seconds; then the kernels' own estimates decide (default: no limit)"},
    {"--no-measuring", NULL, NULL, TOOL_OPTION_FLAG, FIELD(no_measuring),
     TOOL_FOR_BUILDING | TOOL_RARE, "choose by the kernels' estimates alone"},
    {"--exclude", NULL, "P[:NAME]", TOOL_OPTION_LIST, FIELD(exclude), TOOL_FOR_BUILDING | TOOL_RARE,
     "exclude the kernels and rewrites of a plugin, or one kernel or rewrite of it"},
    {"--no-rewrites", NULL, NULL, TOOL_OPTION_FLAG, FIELD(no_rewrites),
     TOOL_FOR_BUILDING | TOOL_RARE,
     "apply no rewrites, and no algebra beyond the operators' definitions"},
    {"--reference", NULL, NULL, TOOL_OPTION_FLAG, FIELD(reference), TOOL_FOR_BUILDING | TOOL_RARE,
     "use reference kernels only"},
    {"--no-fusion", NULL, NULL, TOOL_OPTION_FLAG, FIELD(no_fusion), TOOL_FOR_BUILDING | TOOL_RARE,
     "make one step of each node"},
    {"--strict", NULL, NULL, TOOL_OPTION_FLAG, FIELD(strict), TOOL_FOR_BUILDING | TOOL_RARE,
     "round where the network stores, also inside fused steps"},
    {"--tf32", NULL, NULL, TOOL_OPTION_FLAG, FIELD(tf32), TOOL_FOR_BUILDING | TOOL_RARE,
     "permit tf32 in f32 products on GPUs (default: on if no other type is permitted, but off "
     "for compare and suite)"},
    {"--no-tf32", NULL, NULL, TOOL_OPTION_FLAG, FIELD(no_tf32), TOOL_FOR_BUILDING | TOOL_RARE,
     "compute products of f32 in f32 only"},
    {"--fp16", NULL, NULL, TOOL_OPTION_FLAG, FIELD(fp16), TOOL_FOR_BUILDING,
     "permit f16 between steps and in products, where it is faster"},
    {"--bf16", NULL, NULL, TOOL_OPTION_FLAG, FIELD(bf16), TOOL_FOR_BUILDING,
     "permit bf16 between steps and in products, where it is faster"},
    {"--best", NULL, NULL, TOOL_OPTION_FLAG, FIELD(best), TOOL_FOR_BUILDING | TOOL_RARE,
     "set --tf32 --fp16 --bf16"},
    {"--nondeterministic", NULL, NULL, TOOL_OPTION_FLAG, FIELD(nondeterministic),
     TOOL_FOR_BUILDING | TOOL_RARE, "permit kernels whose results change from run to run"},
    {"--samples", NULL, "DIR", TOOL_OPTION_LIST, FIELD(samples), TOOL_FOR_BUILDING | TOOL_RARE,
     "measure the error of --fp16 or --bf16 on this data set, and keep the types of values that "
     "cause too much of it"},
    {"--accuracy-bound", NULL, "X", TOOL_OPTION_AMOUNT, FIELD(accuracy_bound),
     TOOL_FOR_BUILDING | TOOL_RARE,
     "limit the change of results on the samples, as a part of their norm (default: 0.01)"},
    {"--keep", NULL, "VALUE", TOOL_OPTION_LIST, FIELD(keep), TOOL_FOR_BUILDING | TOOL_RARE,
     "never lower the precision of this value"},
    {"--tuned-only", NULL, NULL, TOOL_OPTION_FLAG, FIELD(tuned_only), TOOL_FOR_BUILDING | TOOL_RARE,
     "write a smaller plan: weights only as the kernels packed them; no refit, no rebuild"},
    {"--no-refusals", NULL, NULL, TOOL_OPTION_FLAG, FIELD(no_refusals),
     TOOL_FOR_BUILDING | TOOL_RARE,
     "write a smaller plan, without the reasons why other kernels were not chosen"},
    {"--branch-streams", NULL, "N", TOOL_OPTION_POSITIVE, FIELD(branch_streams),
     TOOL_FOR_BUILDING | TOOL_RARE,
     "run branches of the network on up to N streams of a device at the same time; 1: sequentially "
     "(default: 4)"},
    {"--optimizer-limit", NULL, "N", TOOL_OPTION_POSITIVE, FIELD(optimizer_limit),
     TOOL_FOR_BUILDING | TOOL_RARE,
     "stop optimising after N patches, to find the one that is wrong"},
    {"--timing-cache", NULL, "FILE", TOOL_OPTION_TEXT, FIELD(timing_cache),
     TOOL_FOR_BUILDING | TOOL_RARE,
     "keep the measurements of a build in FILE, and compiled kernels in FILE.code (default: in the "
     "cache folder)"},
    /* What they ask not to be done is not done with a plan either. */
    {"--no-timing-cache", NULL, NULL, TOOL_OPTION_FLAG, FIELD(no_timing_cache), TOOL_RARE,
     "measure everything again in a build, and keep nothing"},
    {"--no-cache", NULL, NULL, TOOL_OPTION_FLAG, FIELD(no_cache), 0,
     "do not read or write the plan cache"},
};

const tool_option_rule_t tool_building_rules[TOOL_BUILDING_RULE_COUNT] = {
    {"--profile", NULL, "--minShapes --optShapes --maxShapes"},
    {"--no-measuring", NULL, "--time-budget --timing-cache"},
    {"--timing-cache", NULL, "--no-timing-cache"},
    {"--samples", "--tf32 --fp16 --bf16 --best", NULL},
    {"--no-tf32", NULL, "--tf32 --best"},
    {"--accuracy-bound", "--samples", NULL},
};

void tool_building_keep_f32(tool_building_t* building) {
  building->no_tf32 = building->no_tf32 || (!building->tf32 && !building->best);
}

static uint32_t permits_of(const tool_building_t* building) {
  const uint32_t permits = (building->tf32 || building->best ? TENON_PERMIT_TF32 : 0u) |
                           (building->fp16 || building->best ? TENON_PERMIT_F16 : 0u) |
                           (building->bf16 || building->best ? TENON_PERMIT_BF16 : 0u) |
                           (building->nondeterministic ? TENON_PERMIT_NONDETERMINISTIC : 0u);
  return permits == 0 && building->no_tf32 ? (uint32_t)TENON_PERMIT_NOTHING : permits;
}

/* One of trtexec's three: fills shape `which` of each input. */
static tenon_status_t add_point(tool_building_t* building, const char* option, const char* text,
                                uint32_t which) {
  tool_named_shapes_t points = {0};
  const tenon_status_t status = tool_named_shapes_parse(option, text, &points);
  const size_t count = status == TENON_OK ? points.count : 0;
  for (size_t i = 0; i < count; ++i) {
    tool_named_shape_t* range = tool_named_shapes_find(&building->ranges, points.items[i].name);
    const bool is_new = range == NULL;
    if (is_new) {
      range = tool_named_shapes_add(&building->ranges, points.items[i].name);
    }
    for (uint32_t k = 0; k < 3; ++k) {
      if (is_new || k == which) {
        range->shapes[k] = points.items[i].shapes[0];
      }
    }
  }
  tool_named_shapes_free(&points);
  return status;
}

static tenon_status_t add_points(tool_building_t* building) {
  static const char* const names[] = {"--optShapes", "--minShapes", "--maxShapes"};
  static const uint32_t which[] = {1, 0, 2};
  /* The optimum first: where another point is not given, it is the optimum. */
  const char* const texts[] = {building->opt_shapes, building->min_shapes, building->max_shapes};
  for (int i = 0; i < 3; ++i) {
    if (texts[i] == NULL) {
      continue;
    }
    building->has_profile = true;
    TOOL_TRY(add_point(building, names[i], texts[i], which[i]));
  }
  return TENON_OK;
}

static tenon_status_t check_range(const tool_named_shape_t* range) {
  const uint32_t rank = range->shapes[0].rank;
  if (range->shapes[1].rank != rank || range->shapes[2].rank != rank) {
    return tool_misuse("the profile gives '%s' shapes of different rank", range->name);
  }
  for (uint32_t k = 0; k < 3 * rank; ++k) {
    if (range->shapes[k / rank].dims[k % rank] < 0) {
      return tool_misuse("the profile leaves an extent of '%s' open", range->name);
    }
  }
  for (uint32_t k = 0; k < rank; ++k) {
    const int64_t min = range->shapes[0].dims[k];
    const int64_t optimum = range->shapes[1].dims[k];
    const int64_t max = range->shapes[2].dims[k];
    if (min > optimum || optimum > max) {
      return tool_misuse(
          "the profile gives axis %u of '%s' %lld, %lld and %lld, which is not in order", k,
          range->name, (long long)min, (long long)optimum, (long long)max);
    }
  }
  return TENON_OK;
}

static void check_threads(uint32_t threads) {
  cpu_set_t ours;
  if (sched_getaffinity(0, sizeof(ours), &ours) == 0 && threads > (uint32_t)CPU_COUNT(&ours)) {
    tool_warn("--threads %u: this process has %d processors, and more threads wait for one another",
              threads, CPU_COUNT(&ours));
  }
}

/* Among the parts "random" and "random:SEED" are no files. */
static void take_random_weights(tool_building_t* building) {
  static const char word[] = "random";
  const size_t length = sizeof(word) - 1;
  tool_list_t files = {0};
  for (size_t i = 0; i < building->parts.count; ++i) {
    const char* part = building->parts.items[i];
    const bool is_word =
        strncmp(part, word, length) == 0 && (part[length] == '\0' || part[length] == ':');
    if (is_word) {
      tool_free(building->made_setting);
      building->made_setting = tool_format("weights=%s", part);
    } else {
      tool_list_add(&files, part);
    }
  }
  tool_list_free(&building->parts);
  building->parts = files;
  if (building->made_setting != NULL) {
    tool_list_add(&building->settings, building->made_setting);
  }
}

tenon_status_t tool_building_prepare(tool_building_t* building) {
  if (building->branch_streams > TENON_STREAM_LIMIT) {
    return tool_misuse("--branch-streams %u: at most %d are possible", building->branch_streams,
                       TENON_STREAM_LIMIT);
  }
  check_threads(building->threads);
  take_random_weights(building);
  if (building->profiles.count > 1) {
    return tool_misuse(
        "a plan has one profile for the time being: put all inputs into one --profile, separated "
        "by commas");
  }
  if (building->profiles.count > 0) {
    building->has_profile = true;
    TOOL_TRY(tool_named_shapes_parse("--profile", building->profiles.items[0], &building->ranges));
  }
  TOOL_TRY(add_points(building));
  if (building->shapes != NULL) {
    TOOL_TRY(tool_named_shapes_parse("--shapes", building->shapes, &building->fixed));
  }
  TOOL_TRY(tool_constants_add(&building->constant_texts, &building->constants));
  for (size_t i = 0; i < building->ranges.count; ++i) {
    TOOL_TRY(check_range(&building->ranges.items[i]));
  }
  return TENON_OK;
}

void tool_building_free(tool_building_t* building) {
  tool_named_shapes_free(&building->ranges);
  tool_named_shapes_free(&building->fixed);
  tool_list_free(&building->profiles);
  tool_list_free(&building->parts);
  tool_list_free(&building->settings);
  tool_list_free(&building->states);
  tool_free(building->made_setting);
  tool_list_free(&building->constant_texts);
  tool_constants_free(&building->constants);
  tool_list_free(&building->exclude);
  tool_list_free(&building->node_devices);
  tool_list_free(&building->samples);
  tool_list_free(&building->keep);
}

void tool_building_fill(const tool_building_t* building, tool_build_profile_t* out_profile,
                        tenon_build_options_t* out_options) {
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  const size_t count = building->ranges.count;
  out_profile->ranges = tool_allocate(count, sizeof(*out_profile->ranges));
  for (size_t i = 0; i < count; ++i) {
    const tool_named_shape_t* range = &building->ranges.items[i];
    out_profile->ranges[i] = (tenon_profile_range_t){.input = range->name,
                                                     .rank = range->shapes[0].rank,
                                                     .min = range->shapes[0].dims,
                                                     .optimum = range->shapes[1].dims,
                                                     .max = range->shapes[2].dims};
  }
  out_profile->profile.ranges =
      (tenon_list_t){out_profile->ranges, (uint32_t)count, sizeof(*out_profile->ranges)};
  options.profiles = (tenon_list_t){&out_profile->profile, building->has_profile ? 1 : 0,
                                    sizeof(out_profile->profile)};
  options.thread_count = building->threads;
  options.device = building->device;
  options.workspace_limit_bytes = building->workspace;
  options.memory_limit_bytes = building->memory_limit;
  options.time_budget_seconds = building->time_budget;
  options.exclude = building->exclude.items;
  options.node_devices = building->node_devices.items;
  options.no_measuring = building->no_measuring ? 1 : 0;
  options.no_fusion = building->no_fusion ? 1 : 0;
  options.reference_only = building->reference ? 1 : 0;
  options.strict = building->strict ? 1 : 0;
  options.tuned_only = building->tuned_only ? 1 : 0;
  options.permits = permits_of(building);
  options.keep = building->keep.items;
  options.accuracy_bound = building->accuracy_bound;
  options.optimizer_limit = building->optimizer_limit;
  options.stream_limit = building->branch_streams;
  options.no_rewrites = building->no_rewrites ? 1 : 0;
  options.keep_refusals = building->no_refusals ? 0 : 1;
  *out_options = options;
}

void tool_build_profile_free(tool_build_profile_t* profile) {
  tool_free(profile->ranges);
  profile->ranges = NULL;
}

static void print_shapes(FILE* file, const char* key, const tool_named_shapes_t* shapes) {
  for (size_t i = 0; i < shapes->count; ++i) {
    (void)fprintf(file, "%s %s", key, shapes->items[i].name);
    for (uint32_t k = 0; k < 3; ++k) {
      char text[1024];
      tool_shape_print(shapes->items[i].shapes[k].rank, shapes->items[i].shapes[k].dims, text,
                       sizeof(text));
      (void)fprintf(file, " %s", text);
    }
    (void)fputc('\n', file);
  }
}

static const char* or_none(const char* text) {
  return text != NULL ? text : "-";
}

static void print_texts(FILE* file, const char* key, const tool_list_t* texts) {
  for (size_t i = 0; i < texts->count; ++i) {
    (void)fprintf(file, "%s %s\n", key, texts->items[i]);
  }
}

char* tool_building_describe(const tool_building_t* building) {
  char* text = NULL;
  size_t size = 0;
  FILE* file = open_memstream(&text, &size);
  if (file == NULL) {
    return tool_copy_text("");
  }
  print_shapes(file, "profile", &building->ranges);
  print_shapes(file, "fixed", &building->fixed);
  (void)fprintf(file, "outputs %s\nformat %s\nthreads %u\ndevice %s\n", or_none(building->outputs),
                or_none(building->format), building->threads, or_none(building->device));
  (void)fprintf(file, "workspace %llu\nmemory %llu\nbudget %.9g\naccuracy %.9g\n",
                (unsigned long long)building->workspace, (unsigned long long)building->memory_limit,
                building->time_budget, building->accuracy_bound);
  if (building->prefer != NULL) {
    print_texts(file, "prefer", building->prefer);
  }
  print_texts(file, "exclude", &building->exclude);
  print_texts(file, "node-device", &building->node_devices);
  print_texts(file, "samples", &building->samples);
  print_texts(file, "keep", &building->keep);
  print_texts(file, "setting", &building->settings);
  print_texts(file, "state", &building->states);
  (void)fprintf(file, "flags %d%d%d%d%d%d%d%d %u %u\n", building->no_measuring, building->no_fusion,
                building->reference, building->strict, building->tuned_only,
                (int)permits_of(building), building->no_refusals, building->no_rewrites,
                building->optimizer_limit, building->branch_streams);
  (void)fclose(file);
  return text;
}
