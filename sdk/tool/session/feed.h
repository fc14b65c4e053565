/*
 * What is given to a network: files for its inputs, by name or in order, and how they become
 * values. The same feed is looked at twice: for its shapes, before the model is parsed and built
 * for them, and for its values, once the inputs are known. A recorded tensor's bytes are kept
 * undecoded until then, for the file does not say whether it is a sequence.
 */
#ifndef TOOL_SESSION_FEED_H_
#define TOOL_SESSION_FEED_H_

#include "data/picture.h"
#include "data/value.h"
#include "session/constants.h"
#include "text/options.h"
#include "text/shape_text.h"

/* The options. Texts are borrowed from the command line. */
typedef struct tool_feeding_t {
  tool_list_t inputs; /* NAME=FILE or FILE */
  /* Folders of input_<i>.pb, output_<i>.pb. */
  tool_list_t data_sets;
  /* Copies of the input along axis 0; 0: not given. */
  uint32_t batch;
  /* Of random numbers for inputs that are not given. */
  uint32_t seed;
  /* Numbers with commas, one a channel or one for all; `scale` likewise. */
  const char* mean;
  const char* scale;
  bool bgr; /* pictures go in with blue first */
} tool_feeding_t;

enum { TOOL_FEEDING_OPTION_COUNT = 7 };
extern const tool_option_t tool_feeding_options[TOOL_FEEDING_OPTION_COUNT];
enum { TOOL_FEEDING_RULE_COUNT = 3 };
extern const tool_option_rule_t tool_feeding_rules[TOOL_FEEDING_RULE_COUNT];
#define TOOL_FEEDING_GROUP(target) \
  TOOL_OPTION_GROUP_RULED("inputs", tool_feeding_options, tool_feeding_rules, target)

/* One file. It is a picture, or an array (`value`), or a recorded tensor (`bytes`). All is
 * owned. */
typedef struct tool_feed_item_t {
  char* path;
  /* Name of the input that was asked for; NULL: by position, or by own_name. */
  char* input;
  /* Name in the file, "" for none: used where there is no other. */
  char* own_name;
  /* Among the inputs: the number of --input options before it, or the <i> of a data set. */
  uint32_t position;
  /* Of a data set: what --input gives goes before it. */
  bool is_recorded;
  bool is_picture;
  tool_picture_t picture;
  /* Of a tensor, or taken from its head; rank and dims count then. */
  bool has_shape;
  uint32_t rank;
  int64_t dims[TOOL_RANK_MAX];
  /* Of a recorded tensor, whose kind is not known yet; else NULL. */
  uint8_t* bytes;
  size_t size;
  tool_value_t value; /* of an array */
} tool_feed_item_t;

/* Everything given to one network. Filled by tool_feed_load, freed by tool_feed_free; all zeros
 * gives nothing. */
typedef struct tool_feed_t {
  tool_feed_item_t* items;
  size_t count;
  size_t capacity;
  tool_preprocess_t preprocess;
  /* Borrowed; NULL: none. */
  const char* data_set;
  int64_t batch; /* 0: not given */
  uint64_t seed;
} tool_feed_t;

/* The data set where one alone makes sense, NULL when none is given. INVALID_ARGUMENT for more. */
tenon_status_t tool_feeding_data_set(const tool_feeding_t* feeding, const char** out_data_set);
void tool_feeding_free(tool_feeding_t* feeding);
/* Reads the files of --input and, unless NULL, the input_<i>.pb (or .npy) of a data set; without
 * those for inputs that are constants, as far as the recorded tensors' names tell. */
tenon_status_t tool_feed_load(const tool_feeding_t* feeding, const char* data_set,
                              const tool_constants_t* constants, tool_feed_t* out_feed);
void tool_feed_free(tool_feed_t* feed);

/* "DIR/input_3.pb" or .npy, for `what` "input", freed by tool_free; NULL: there is neither. */
char* tool_recorded_path(const char* folder, const char* what, uint32_t index);
/* The item for an input; NULL: it is not given. */
const tool_feed_item_t* tool_feed_find(const tool_feed_t* feed, const char* name,
                                       uint32_t position);
/* All inputs of a network, freed by tool_free. */
tenon_status_t tool_network_inputs(const tenon_network_t* network, tenon_io_info_t** out_inputs);
/* Names with commas between, for messages; freed by tool_free. */
char* tool_input_names(const tenon_io_info_t* inputs, uint32_t input_count);
/* An array of bytes for an input of floats: --mean and --scale act on it. */
bool tool_feed_is_bytes(const tool_feed_item_t* item, const tenon_io_info_t* input);
/* Every item must belong to an input and have its shape, as far as that is known: INVALID_ARGUMENT
 * names the one that does not, and the inputs. --batch, --mean, --scale and --bgr must act on one.
 */
tenon_status_t tool_feed_check(const tool_feed_t* feed, const tenon_io_info_t* inputs,
                               uint32_t input_count);
/* Extents of an input with these declared extents (-1: open) as far as the item says them; those it
 * does not say stay open. False when it says nothing. */
bool tool_feed_shape(const tool_feed_t* feed, const tool_feed_item_t* item, uint32_t rank,
                     const int64_t* dims, int64_t out_dims[TOOL_RANK_MAX]);
/* The value for an input, converted, and repeated along the batch where --batch says so. */
tenon_status_t tool_feed_value(const tool_feed_t* feed, const tool_feed_item_t* item,
                               const tenon_io_info_t* input, tool_value_t* out_value);
/* Lines that tell the shapes given, for the cache's key. */
char* tool_feed_describe(const tool_feed_t* feed);

#endif
