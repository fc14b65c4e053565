/* Strings. */
#include "families.h"
#include "infer.h"

static const tenon_operator_t operators[] = {
    {OPERATOR("string_concat", "a, then b"), INPUTS(PORT("a", "str"), PORT("b", "str")),
     OUTPUTS(PORT("y", "str")), .shape = "y = broadcast(a, b)", .traits = "pure"},
    {OPERATOR("string_split",
              "pieces between delimiters, padded with empty ones, and their number"),
     INPUTS(PORT("x", "str")), OUTPUTS(UNBOUNDED("y", "str"), PORT("counts", "i64")),
     ATTRIBUTES(STRING("delimiter", "''"), INT("max_split", "-1")),
     .shape = "y.rank = rank(x) + 1; y[d] = d < rank(x) ? dim(x, d) : fresh(); counts = x",
     .traits = "pure"},
    {OPERATOR("string_normalizer", "without stop words, in lower or upper case"),
     INPUTS(PORT("x", "str")), OUTPUTS(UNBOUNDED("y", "str")),
     ATTRIBUTES(CHOICE("case_change", "'none'", "none|lower|upper"), FLAG("case_sensitive", "0"),
                STRINGS("stopwords", "[]")),
     .shape = "y.rank = rank(x); y[d] = d < rank(x) - 1 ? 1 : fresh(max(1, elements(x)))",
     .traits = "pure"},
    {OPERATOR("tfidf_vectorizer", "how often each n-gram of the pool occurs, weighted"),
     TYPES(TYPE("T", "str i32 i64")), INPUTS(PORT("x", "T")), OUTPUTS(PORT("y", "f32")),
     ATTRIBUTES(CHOICE("mode", "'TF'", "TF|IDF|TFIDF"), REQUIRED_INT("min_gram_length"),
                REQUIRED_INT("max_gram_length"), REQUIRED_INT("max_skip_count"),
                REQUIRED_INTS("ngram_counts"), REQUIRED_INTS("ngram_indexes"),
                INTS("pool_int64s", "[]"), STRINGS("pool_strings", "[]"), FLOATS("weights", "[]")),
     .infer = tenon__infer_tfidf_vectorizer, .traits = "pure"},
};
FAMILY(text);
