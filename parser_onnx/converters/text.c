/* Strings. */
#include <string.h>

#include "families.h"

static void string_normalizer(tenon_make_t* make) {
  const char* action = tenon_make_get_string(make, "case_change_action", "NONE");
  tenon_make_begin(make, "string_normalizer");
  tenon_make_set_string(make, "case_change",
                        strcmp(action, "LOWER") == 0   ? "lower"
                        : strcmp(action, "UPPER") == 0 ? "upper"
                                                       : "none");
  tenon_make_pass_all(make, "is_case_sensitive>case_sensitive stopwords");
  tenon_make_add_inputs(make, 0);
  tenon_make_end_outputs(make);
}

#define ROW(type, function, op, attributes) \
  TENON__ONNX_ROW("", type, 1, 0, function, op, attributes)

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    ROW("StringConcat", tenon_make_same, "string_concat", NULL),
    ROW("StringNormalizer", string_normalizer, NULL, NULL),
    ROW("StringSplit", tenon_make_same, "string_split", "delimiter maxsplit>max_split"),
    ROW("TfIdfVectorizer", tenon_make_same, "tfidf_vectorizer",
        "mode min_gram_length max_gram_length max_skip_count ngram_counts ngram_indexes "
        "pool_int64s pool_strings weights"),
};
TENON__ONNX_FAMILY(text);
