/* Parsing, and finding extents for inputs that leave them open. See model.h. */
#include <string.h>

#include "session/io_text.h"
#include "session/model.h"
#include "session/network_states.h"
#include "text/console.h"
#include "text/memory.h"

/* Shapes to parse with: names and extents that live until the parse is over. */
typedef struct shapes_t {
  tool_named_shapes_t named; /* shapes[0] of each */
  tenon_input_shape_t* table;
} shapes_t;

static void set_shape(shapes_t* shapes, const char* name, uint32_t rank, const int64_t* dims) {
  tool_named_shape_t* entry = tool_named_shapes_add(&shapes->named, name);
  entry->shapes[0].rank = rank;
  memcpy(entry->shapes[0].dims, dims, rank * sizeof(int64_t));
}

static void free_shapes(shapes_t* shapes) {
  tool_named_shapes_free(&shapes->named);
  tool_free(shapes->table);
}

/* Where it fails, what the file says of itself is in the network. */
static tenon_status_t parse(tenon_registry_t* registry, const char* path,
                            const tool_building_t* building, shapes_t* shapes,
                            tenon_network_t** out_network) {
  tenon_parse_options_t options = TENON_OPTIONS(tenon_parse_options_t);
  tool_constant_table_t constants;
  tool_free(shapes->table);
  shapes->table = tool_allocate(shapes->named.count, sizeof(*shapes->table));
  for (size_t i = 0; i < shapes->named.count; ++i) {
    const tool_named_shape_t* entry = &shapes->named.items[i];
    shapes->table[i] = (tenon_input_shape_t){
        .name = entry->name, .rank = entry->shapes[0].rank, .dims = entry->shapes[0].dims};
  }
  options.format = building->format;
  options.shapes =
      (tenon_list_t){shapes->table, (uint32_t)shapes->named.count, sizeof(*shapes->table)};
  options.parts = building->parts.items;
  options.settings = building->settings.items;
  tool_constant_table_make(&building->constants, &constants);
  options.values = (tenon_list_t){constants.values, constants.count, sizeof(*constants.values)};
  tenon_network_t* network = NULL;
  tenon_status_t status = tenon_network_create(registry, &network);
  if (status == TENON_OK) {
    status = tenon_network_parse_file(network, path, &options);
  }
  tool_constant_table_free(&constants);
  *out_network = network;
  return status;
}

/* What is known before the model is: --shapes, the profile's ranks, data that name their input. */
static void begin_shapes(const tool_building_t* building, shapes_t* shapes) {
  for (size_t i = 0; i < building->ranges.count; ++i) {
    int64_t dims[TOOL_RANK_MAX];
    const tool_named_shape_t* range = &building->ranges.items[i];
    for (uint32_t k = 0; k < range->shapes[0].rank; ++k) {
      const int64_t min = range->shapes[0].dims[k];
      dims[k] = range->shapes[2].dims[k] == min ? min : -1;
    }
    set_shape(shapes, range->name, range->shapes[0].rank, dims);
  }
  for (size_t i = 0; i < building->fixed.count; ++i) {
    const tool_named_shape_t* fixed = &building->fixed.items[i];
    if (tool_named_shapes_find(&building->ranges, fixed->name) != NULL) {
      continue; /* it is of the run, within the profile */
    }
    set_shape(shapes, fixed->name, fixed->shapes[0].rank, fixed->shapes[0].dims);
  }
}

/* Rank alone, for inputs whose file does not even say that: names in recorded tensors tell which
 * they are. */
static void add_given_ranks(const tool_feed_t* feed, shapes_t* shapes) {
  for (size_t i = 0; i < feed->count; ++i) {
    const tool_feed_item_t* item = &feed->items[i];
    const char* name = item->input != NULL ? item->input : item->own_name;
    int64_t open[TOOL_RANK_MAX];
    if (!item->has_shape || name == NULL || name[0] == '\0' ||
        tool_named_shapes_find(&shapes->named, name) != NULL) {
      continue;
    }
    for (uint32_t k = 0; k < item->rank; ++k) {
      open[k] = -1;
    }
    set_shape(shapes, name, item->rank, open);
  }
}

static bool has_shapes(const tool_feed_t* feed) {
  int64_t dims[TOOL_RANK_MAX];
  bool any = false;
  for (size_t i = 0; i < feed->count; ++i) {
    any = any || tool_feed_shape(feed, &feed->items[i], TENON_NONE, NULL, dims);
  }
  return any;
}

/* The same with the extents: for models that cannot be understood while these are open (a branch
 * whose results have other ranks). Files without a name are for the inputs that the model declares,
 * in order: `network`, which could not be parsed, has these. */
static void add_given_shapes(const tool_feed_t* feed, const tenon_network_t* network,
                             shapes_t* shapes) {
  for (size_t i = 0; i < feed->count; ++i) {
    const tool_feed_item_t* item = &feed->items[i];
    const char* name = item->input != NULL ? item->input : item->own_name;
    int64_t dims[TOOL_RANK_MAX];
    tenon_io_info_t declared = {.size = sizeof(declared)};
    if ((name == NULL || name[0] == '\0') && item->position < tenon_network_input_count(network) &&
        tenon_network_get_input(network, item->position, &declared) == TENON_OK) {
      name = declared.name;
    }
    if (name != NULL && name[0] != '\0' && tool_feed_shape(feed, item, TENON_NONE, NULL, dims)) {
      set_shape(shapes, name, item->rank, dims);
    }
  }
}

/* ---- Open extents ---- */

/* Values of symbols, by their text: shapes[0].dims[0]. */
typedef tool_named_shapes_t symbols_t;

static int64_t find_symbol(const symbols_t* symbols, const char* text) {
  const tool_named_shape_t* found =
      text != NULL && text[0] != '\0' ? tool_named_shapes_find(symbols, text) : NULL;
  return found != NULL ? found->shapes[0].dims[0] : -1;
}

/* Of two extents the first counts. */
static void learn_symbols(const tenon_io_info_t* input, const int64_t* dims, symbols_t* symbols) {
  for (uint32_t k = 0; k < input->rank; ++k) {
    const char* text = input->symbols[k];
    if (input->dims[k] < 0 && dims[k] >= 0 && text != NULL && text[0] != '\0') {
      const int64_t known = find_symbol(symbols, text);
      if (known >= 0 && known != dims[k]) {
        tool_warn(
            "input '%s': axis %u ('%s') has extent %lld, but an input before it has %lld there",
            input->name, k, text, (long long)dims[k], (long long)known);
      }
      if (known < 0) {
        tool_named_shapes_add(symbols, text)->shapes[0].dims[0] = dims[k];
      }
    }
  }
}

static bool is_open(const tenon_io_info_t* input) {
  return tool_io_is_open(input) && input->rank <= TOOL_RANK_MAX;
}

/* A warning now, and a line to be warned with when the plan comes out of the cache. */
static void add_note(char** notes, const tenon_io_info_t* input, uint32_t axis) {
  const char* symbol = input->symbols[axis] != NULL ? input->symbols[axis] : "";
  char* line = tool_format(
      "input '%s': axis %u%s%s%s is open and taken to be 1 (--shapes, --batch, "
      "--profile or data decide otherwise)",
      input->name, axis, symbol[0] != '\0' ? " (" : "", symbol, symbol[0] != '\0' ? ")" : "");
  tool_warn("%s", line);
  tool_append(notes, "%s\n", line);
  tool_free(line);
}

/* True if there was anything to complete. */
static bool complete_dims(const tool_feed_t* feed, const symbols_t* symbols,
                          const tenon_io_info_t* input, int64_t* dims, char** notes) {
  bool any = false;
  for (uint32_t k = 0; k < input->rank; ++k) {
    if (dims[k] >= 0) {
      continue;
    }
    any = true;
    dims[k] = find_symbol(symbols, input->symbols[k]);
    if (dims[k] < 0 && k == 0 && feed->batch > 0) {
      dims[k] = feed->batch;
    }
    if (dims[k] < 0) {
      dims[k] = 1;
      add_note(notes, input, k);
    }
  }
  return any;
}

/* Fills `shapes` for every open input. True when there was one. */
static bool close_shapes(const tenon_io_info_t* inputs, uint32_t count, const tool_feed_t* feed,
                         shapes_t* shapes, char** notes) {
  symbols_t symbols = {0};
  int64_t(*dims)[TOOL_RANK_MAX] = tool_allocate(count, sizeof(*dims));
  bool any = false;
  for (uint32_t i = 0; i < count; ++i) {
    if (!is_open(&inputs[i])) {
      continue;
    }
    const tool_feed_item_t* item = tool_feed_find(feed, inputs[i].name, i);
    memcpy(dims[i], inputs[i].dims, inputs[i].rank * sizeof(int64_t));
    if (item != NULL) {
      (void)tool_feed_shape(feed, item, inputs[i].rank, inputs[i].dims, dims[i]);
    }
    learn_symbols(&inputs[i], dims[i], &symbols);
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (is_open(&inputs[i])) {
      any = true;
      if (complete_dims(feed, &symbols, &inputs[i], dims[i], notes)) {
        learn_symbols(&inputs[i], dims[i], &symbols);
      }
      set_shape(shapes, inputs[i].name, inputs[i].rank, dims[i]);
    }
  }
  tool_named_shapes_free(&symbols);
  tool_free(dims);
  return any;
}

/* Names of inputs in options; data are checked by their feed. */
static tenon_status_t check_names(const char* option, const tool_named_shapes_t* shapes,
                                  const tenon_io_info_t* inputs, uint32_t count) {
  for (size_t i = 0; i < shapes->count; ++i) {
    bool known = false;
    for (uint32_t k = 0; k < count && !known; ++k) {
      known = strcmp(shapes->items[i].name, inputs[k].name) == 0;
    }
    if (!known) {
      char* names = tool_input_names(inputs, count);
      (void)tool_misuse("%s: there is no input '%s'; the inputs are: %s%s", option,
                        shapes->items[i].name, names,
                        strchr(shapes->items[i].name, ':') == NULL
                            ? ""
                            : " (after a name stand one shape, or three of one rank)");
      tool_free(names);
      return TENON_ERROR_INVALID_ARGUMENT;
    }
  }
  return TENON_OK;
}

/* All that is given must fit the inputs. */
static tenon_status_t check_inputs(const tenon_network_t* network, const tool_building_t* building,
                                   const tool_feed_t* feed, const tenon_io_info_t* inputs) {
  const uint32_t count = tenon_network_input_count(network);
  TOOL_TRY(check_names("--profile", &building->ranges, inputs, count));
  TOOL_TRY(check_names("--shapes", &building->fixed, inputs, count));
  return tool_feed_check(feed, inputs, count);
}

/* Before anything is built for what is given. *out_open: extents were found for open inputs, and
 * the model is to be parsed again with them. */
static tenon_status_t fit_inputs(const tenon_network_t* network, const tool_building_t* building,
                                 const tool_feed_t* feed, shapes_t* shapes, char** notes,
                                 bool* out_open) {
  tenon_io_info_t* inputs = NULL;
  TOOL_TRY(tool_network_inputs(network, &inputs));
  const tenon_status_t status = check_inputs(network, building, feed, inputs);
  *out_open = status == TENON_OK && !building->has_profile &&
              close_shapes(inputs, tenon_network_input_count(network), feed, shapes, notes);
  tool_free(inputs);
  return status;
}

/* "input:?x512,state:2x?x128", of what the file declares; NULL: nothing is open. */
static char* open_shapes(const tenon_network_t* network) {
  char* text = NULL;
  for (uint32_t i = 0; i < tenon_network_input_count(network); ++i) {
    tenon_io_info_t input = {.size = sizeof(input)};
    if (tenon_network_get_input(network, i, &input) != TENON_OK || !is_open(&input)) {
      continue;
    }
    char shape[256];
    tool_shape_print(input.rank, input.dims, shape, sizeof(shape));
    tool_append(&text, "%s%s:%s", text == NULL ? "" : ",", input.name, shape);
  }
  return text;
}

/* After the error: what may mend it. */
static void advise_shapes(const tenon_network_t* network) {
  char* shapes = network == NULL ? NULL : open_shapes(network);
  if (shapes != NULL) {
    tool_warn(
        "the inputs' shapes are open, and it may be understood with them: --shapes %s, numbers in "
        "place of ?",
        shapes);
  }
  tool_free(shapes);
}

/* ---- All of it ---- */

/* With open extents, so that the model says what they are; where it cannot be parsed like that,
 * with those of the data. */
static tenon_status_t parse_first(tenon_registry_t* registry, const char* path,
                                  const tool_building_t* building, const tool_feed_t* feed,
                                  shapes_t* shapes, tenon_network_t** out_network) {
  shapes_t given = {0};
  begin_shapes(building, shapes);
  begin_shapes(building, &given);
  add_given_ranks(feed, shapes);
  const bool can_retry = !building->has_profile && has_shapes(feed);
  tool_console_soften(can_retry);
  tool_console_hold(can_retry);
  tenon_status_t status = parse(registry, path, building, shapes, out_network);
  tool_console_soften(false);
  tool_console_hold(false);
  if (status == TENON_OK || !can_retry) {
    tool_console_release(true);
    if (status == TENON_ERROR_INVALID_DATA || status == TENON_ERROR_UNSUPPORTED) {
      advise_shapes(*out_network);
    }
    free_shapes(&given);
    return status;
  }
  add_given_shapes(feed, *out_network, &given);
  tenon_network_destroy(*out_network);
  *out_network = NULL;
  free_shapes(shapes);
  *shapes = given;
  status = parse(registry, path, building, shapes, out_network);
  tool_console_release(status == TENON_OK); /* else it was said again */
  if (status == TENON_OK) {
    tool_warn("%s: can be parsed with the extents of the data alone", path);
  }
  return status;
}

static tenon_status_t mark_outputs(tenon_network_t* network, const char* names) {
  tenon_status_t status = TENON_OK;
  while (names != NULL && *names != '\0' && status == TENON_OK) {
    const size_t length = strcspn(names, ",");
    char* name = tool_copy_bytes(names, length);
    status = tenon_network_mark_output(network, name);
    tool_free(name);
    names += length + (names[length] == ',' ? 1 : 0);
  }
  return status;
}

tenon_status_t tool_network_read(tenon_registry_t* registry, const char* path,
                                 const tool_building_t* building, const tool_feed_t* feed,
                                 tenon_network_t** out_network) {
  shapes_t shapes = {0};
  tenon_network_t* network = NULL;
  tenon_io_info_t* inputs = NULL;
  tenon_status_t status =
      feed->batch > 0 && feed->count == 0
          ? tool_misuse(
                "--batch %lld: nothing is built, and open extents stay open; --shapes "
                "gives inputs extents",
                (long long)feed->batch)
          : TENON_OK;
  if (status == TENON_OK) {
    status = parse_first(registry, path, building, feed, &shapes, &network);
  }
  if (status == TENON_OK) {
    status = tool_network_inputs(network, &inputs);
    status = status == TENON_OK ? check_inputs(network, building, feed, inputs) : status;
    if (status != TENON_OK) { /* it is not the file's fault */
      tenon_network_destroy(network);
      network = NULL;
    }
  }
  if (status == TENON_OK) {
    status = tool_network_make_states(network, &building->states);
  }
  if (status == TENON_OK) {
    status = mark_outputs(network, building->outputs);
  }
  tool_free(inputs);
  free_shapes(&shapes);
  *out_network = network;
  return status;
}

tenon_status_t tool_network_open(tenon_registry_t* registry, const char* path,
                                 const tool_building_t* building, const tool_feed_t* feed,
                                 tenon_network_t** out_network, char** out_notes) {
  shapes_t shapes = {0};
  tenon_network_t* network = NULL;
  char* notes = tool_copy_text("");
  bool any = false;
  tenon_status_t status = parse_first(registry, path, building, feed, &shapes, &network);
  if (status == TENON_OK) {
    status = fit_inputs(network, building, feed, &shapes, &notes, &any);
  }
  if (status == TENON_OK && any) {
    const bool was_quiet = tool_console_is_quiet();
    tenon_network_destroy(network);
    network = NULL;
    tool_console_quieten(true);
    status = parse(registry, path, building, &shapes, &network);
    tool_console_quieten(was_quiet);
  }
  if (status == TENON_OK) {
    status = tool_network_make_states(network, &building->states);
  }
  if (status == TENON_OK) {
    status = mark_outputs(network, building->outputs);
  }
  free_shapes(&shapes);
  if (status != TENON_OK) {
    tenon_network_destroy(network);
    tool_free(notes);
    return status;
  }
  *out_network = network;
  *out_notes = notes;
  return TENON_OK;
}
