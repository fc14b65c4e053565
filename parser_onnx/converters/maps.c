/*
 * Maps of domain "ai.onnx.ml". No value of a network is a map, but one whose keys the file names is
 * a row of numbers, a column for each key: so maps are read, wherever they stand. What ZipMap makes
 * is the table that it gets; what DictVectorizer and CastMap get, an input of the network, is the
 * row that they make (see map_columns.c). What each column is, is told.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "families.h"

enum { LIST_SIZE = 256, KEY_SIZE = 40 };

/* The keys, of one type or the other. */
typedef struct keys_t {
  const int64_t* integers;
  const tenon_string_view_t* strings;
  size_t count;
} keys_t;

static keys_t read_keys(tenon_make_t* make, const char* integers, const char* strings) {
  keys_t keys = {0};
  size_t string_count = 0;
  (void)tenon_make_get_ints(make, integers, &keys.integers, &keys.count);
  if (make->table->get_strings(make->source, strings, &keys.strings, &string_count) != TENON_OK) {
    string_count = 0;
  }
  if ((keys.count > 0) == (string_count > 0)) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "it has %zu %s and %zu %s: one of them names the keys", keys.count, integers,
                    string_count, strings);
  }
  keys.count += string_count;
  return keys;
}

/* "no, yes, perhaps", or the first of them and how many there are. */
static void print_keys(const keys_t* keys, char text[LIST_SIZE]) {
  size_t used = 0;
  for (size_t i = 0; i < keys->count; ++i) {
    char key[KEY_SIZE];
    if (keys->strings != NULL) {
      const tenon_string_view_t* string = &keys->strings[i];
      (void)snprintf(key, sizeof(key), "%.*s",
                     string->size < KEY_SIZE ? (int)string->size : KEY_SIZE,
                     string->size > 0 ? string->data : "");
    } else {
      (void)snprintf(key, sizeof(key), "%" PRId64, keys->integers[i]);
    }
    if (used + strlen(key) + sizeof(", ... (of 18446744073709551615)") > LIST_SIZE) {
      (void)snprintf(text + used, LIST_SIZE - used, ", ... (of %zu)", keys->count);
      return;
    }
    used += (size_t)snprintf(text + used, LIST_SIZE - used, "%s%s", i > 0 ? ", " : "", key);
  }
}

/* The table's columns are as many as the keys, as far as that is known. */
static bool has_columns(tenon_make_t* make, tenon_value_t table, int64_t count) {
  const uint32_t rank = tenon_make_rank(make, table);
  const int64_t columns = rank == 0 ? 0 : tenon_make_dim(make, table, rank - 1);
  if (tenon_make_ok(make) && (rank < 1 || rank > 2 || (columns >= 0 && columns != count))) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "it has %" PRId64 " keys for a tensor of rank %u with %" PRId64 " columns",
                    count, rank, columns);
  }
  return tenon_make_ok(make);
}

static void zip_map(tenon_make_t* make) {
  const int64_t first = 0;
  char text[LIST_SIZE] = "";
  const tenon_value_t x = tenon_make_input(make, 0);
  const keys_t keys = read_keys(make, "classlabels_int64s", "classlabels_strings");
  if (!tenon_make_ok(make) || !has_columns(make, x, (int64_t)keys.count)) {
    return;
  }
  print_keys(&keys, text);
  tenon_make_say(make, TENON_SEVERITY_WARNING,
                 "'%s' is a tensor, not maps: a row for each map, a column for each key: %s",
                 make->table->output_name(make->source, 0), text);
  tenon_make_output(make, 0,
                    tenon_make_rank(make, x) == 1 ? tenon_make_unsqueeze(make, x, &first, 1) : x);
}

static void dict_vectorizer(tenon_make_t* make) {
  char text[LIST_SIZE] = "";
  const tenon_value_t x = tenon_make_input(make, 0);
  const keys_t keys = read_keys(make, "int64_vocabulary", "string_vocabulary");
  if (!tenon_make_ok(make) || !has_columns(make, x, (int64_t)keys.count)) {
    return;
  }
  print_keys(&keys, text);
  tenon_make_say(make, TENON_SEVERITY_WARNING,
                 "'%s' is a tensor, not a map: a row with a column for each key, 0 where the map "
                 "would lack it: %s",
                 make->table->input_name(make->source, 0), text);
  tenon_make_output(make, 0, x);
}

static void cast_map(tenon_make_t* make) {
  static const struct {
    const char* name;
    tenon_dtype_t dtype;
  } types[] = {{"TO_FLOAT", TENON_DTYPE_FLOAT32},
               {"TO_INT64", TENON_DTYPE_INT64},
               {"TO_STRING", TENON_DTYPE_STRING}};
  const char* form = tenon_make_get_string(make, "map_form", "DENSE");
  const char* to = tenon_make_get_string(make, "cast_to", "TO_FLOAT");
  const bool is_sparse = strcmp(form, "SPARSE") == 0;
  tenon_dtype_t dtype = TENON_DTYPE_UNDEFINED;
  for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); ++i) {
    dtype = strcmp(to, types[i].name) == 0 ? types[i].dtype : dtype;
  }
  if (dtype == TENON_DTYPE_UNDEFINED || (!is_sparse && strcmp(form, "DENSE") != 0)) {
    tenon_make_fail(
        make, TENON_ERROR_INVALID_DATA,
        "map_form '%s' and cast_to '%s' are not DENSE or SPARSE, and TO_FLOAT, TO_INT64 "
        "or TO_STRING",
        form, to);
    return;
  }
  if (is_sparse &&
      !has_columns(make, tenon_make_input(make, 0), tenon_make_get_int(make, "max_map", 1))) {
    return;
  }
  tenon_make_say(make, TENON_SEVERITY_WARNING,
                 is_sparse
                     ? "'%s' is a tensor, not a map: a row with the value of key k in column k, "
                       "0 where the map would lack it"
                     : "'%s' is a tensor, not a map: a row of its values by ascending keys",
                 make->table->input_name(make->source, 0));
  tenon__onnx_cast_input(make, dtype);
}

#define MADE(type, function) TENON__ONNX_ROW("ai.onnx.ml", type, 1, 0, function, NULL, NULL)

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    MADE("CastMap", cast_map),
    MADE("DictVectorizer", dict_vectorizer),
    MADE("ZipMap", zip_map),
};
TENON__ONNX_FAMILY(maps);
