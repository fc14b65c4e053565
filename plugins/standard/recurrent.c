/*
 * Recurrent layers. Layouts are ONNX's: x [time, batch, input], w [directions, gates hidden,
 * input], r [directions, gates hidden, hidden], y [time, directions, batch, hidden], states
 * [directions, batch, hidden]; layout 1 puts batch first. Gates: lstm i o f c, gru z r h.
 */
#include "families.h"

#define RECURRENT_ATTRIBUTES                                                                       \
  CHOICE("direction", "'forward'", "forward|reverse|bidirectional"), STRINGS("activations", "[]"), \
      FLOATS("activation_alpha", "[]"), FLOATS("activation_beta", "[]"), FLOAT("clip", "0.0"),     \
      FLAG("layout", "0")
#define RECURRENT_INPUTS                                              \
  PORT("x", "T"), PORT("w", "T"), PORT("r", "T"), OPTIONAL("b", "T"), \
      OPTIONAL_IN("sequence_lens", "i32", "index(x, layout)"), OPTIONAL("initial_h", "T")
#define STATE_SHAPE(port)         \
  port ".rank = 3; " port         \
       "[d] = d == 2 ? dim(r, 2)" \
       " : d == layout ? dim(w, 0) : dim(x, 1 - layout)"
#define SHAPE_OF_ALL                                         \
  "y.rank = 4;"                                              \
  "y[d] = d == 3 ? dim(r, 2) : layout == 0"                  \
  " ? (d == 0 ? dim(x, 0) : d == 1 ? dim(w, 0) : dim(x, 1))" \
  " : (d == 2 ? dim(w, 0) : dim(x, d));" STATE_SHAPE("y_h")
#define BATCH "dim(x, 1 - layout)"
#define IS_STATE(port) \
  "(!present(" port ") || elements(" port ") == dim(w, 0) * " BATCH " * dim(r, 2))"
#define STATE_CHECK(port)                                              \
  CHECK(IS_STATE(port), port " has {elements(" port                    \
                             ")} elements for {dim(w, 0)} directions," \
                             " {" BATCH "} sequences and {dim(r, 2)} units")
/* The products of all gates; what is done to their sums is little beside them. */
#define RECURRENT_OPERATIONS \
  "2 * dim(x, 0) * dim(x, 1) * dim(w, 0) * dim(w, 1) * (dim(w, 2) + dim(r, 2))"
#define RECURRENT_CHECKS(gates)                                                              \
  CHECK("rank(x) == 3 && rank(w) == 3 && rank(r) == 3",                                      \
        "ranks of x, w, r are {rank(x)}, {rank(w)}, {rank(r)}, not 3"),                      \
      CHECK("dim(x, 2) == dim(w, 2)",                                                        \
            "weights expect {dim(w, 2)} features, input has {dim(x, 2)}"),                   \
      CHECK("dim(r, 2) >= 1 && dim(r, 1) == " gates " * dim(r, 2)",                          \
            "recurrent weights are [{dim(r, 1)}, {dim(r, 2)}], not " gates " gates"),        \
      CHECK("dim(w, 0) == (direction == 'bidirectional' ? 2 : 1) && dim(r, 0) == dim(w, 0)", \
            "weights are of {dim(w, 0)} and {dim(r, 0)} directions"),                        \
      CHECK("dim(w, 1) == dim(r, 1)",                                                        \
            "weights have {dim(w, 1)} rows, recurrent weights {dim(r, 1)}"),                 \
      CHECK("!present(b) || elements(b) == dim(w, 0) * 2 * dim(w, 1)",                       \
            "{elements(b)} biases for {dim(w, 0)} directions of {dim(w, 1)} rows"),          \
      CHECK("!present(sequence_lens) || elements(sequence_lens) == " BATCH,                  \
            "{elements(sequence_lens)} lengths for {" BATCH "} sequences"),                  \
      STATE_CHECK("initial_h")

static const tenon_operator_t operators[] = {
    {OPERATOR("lstm", "long short-term memory"), TYPES(TYPE("T", FLOAT_TYPES)),
     INPUTS(RECURRENT_INPUTS, OPTIONAL("initial_c", "T"), OPTIONAL("p", "T")),
     OUTPUTS(OPTIONAL("y", "T"), OPTIONAL("y_h", "T"), OPTIONAL("y_c", "T")),
     ATTRIBUTES(RECURRENT_ATTRIBUTES, FLAG("input_forget", "0")),
     CHECKS(RECURRENT_CHECKS("4"), STATE_CHECK("initial_c"),
            CHECK("!present(p) || elements(p) == dim(w, 0) * 3 * dim(r, 2)",
                  "{elements(p)} peepholes for {dim(w, 0)} directions of {dim(r, 2)} units")),
     .shape = SHAPE_OF_ALL ";" STATE_SHAPE("y_c"), .operations = RECURRENT_OPERATIONS,
     .traits = "pure"},
    {OPERATOR("gru", "gated recurrent units"), TYPES(TYPE("T", FLOAT_TYPES)),
     INPUTS(RECURRENT_INPUTS), OUTPUTS(OPTIONAL("y", "T"), OPTIONAL("y_h", "T")),
     ATTRIBUTES(RECURRENT_ATTRIBUTES, FLAG("linear_before_reset", "0")),
     CHECKS(RECURRENT_CHECKS("3")), .shape = SHAPE_OF_ALL, .operations = RECURRENT_OPERATIONS,
     .traits = "pure"},
    {OPERATOR("rnn", "one recurrent layer"), TYPES(TYPE("T", FLOAT_TYPES)),
     INPUTS(RECURRENT_INPUTS), OUTPUTS(OPTIONAL("y", "T"), OPTIONAL("y_h", "T")),
     ATTRIBUTES(RECURRENT_ATTRIBUTES), CHECKS(RECURRENT_CHECKS("1")), .shape = SHAPE_OF_ALL,
     .operations = RECURRENT_OPERATIONS, .traits = "pure"},
};
FAMILY(recurrent);
