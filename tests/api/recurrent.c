/* RNN, LSTM and GRU: each direction, with sequence lengths and initial states. */
#include "tests/api/session.h"

static const char* const directions[] = {"forward", "reverse", "bidirectional"};

static const char* named(char* out_text, size_t capacity, const char* name, const char* direction,
                         const char* what) {
  (void)snprintf(out_text, capacity, "%s.%s.%s", name, direction, what);
  return out_text;
}

static void check(const char* name, const char* direction) {
  char text[64];
  char op[64];
  session_t s;
  tenon_value_t outputs[3] = {{0}};
  const bool is_lstm = strcmp(name, "lstm") == 0;
  const bool resets_after = strcmp(name, "gru") == 0 && strcmp(direction, "reverse") == 0;
  if (!session_begin(&s, NULL)) {
    return;
  }
  (void)snprintf(op, sizeof op, "standard.%s/1", name);
  const tenon_value_t inputs[] = {
      session_input(&s, "recurrent.x"),
      session_constant(&s, named(text, sizeof text, name, direction, "w")),
      session_constant(&s, named(text, sizeof text, name, direction, "r")),
      session_constant(&s, named(text, sizeof text, name, direction, "b")),
      session_input(&s, "recurrent.lengths"),
      session_input(&s, named(text, sizeof text, name, direction, "h")),
      is_lstm ? session_input(&s, named(text, sizeof text, name, direction, "c")) : ABSENT};
  const tenon_attribute_t attributes[] = {
      TENON_TEXT("direction", direction),
      resets_after ? TENON_INT("linear_before_reset", 1) : (tenon_attribute_t){0},
      {0}};
  session_add(&s, op, inputs, is_lstm ? 7 : 6, attributes, outputs, is_lstm ? 3 : 2);
  session_output(&s, outputs[0], named(text, sizeof text, name, direction, "y"));
  session_output(&s, outputs[1], named(text, sizeof text, name, direction, "y_h"));
  if (is_lstm) {
    session_output(&s, outputs[2], named(text, sizeof text, name, direction, "y_c"));
  }
  session_check(&s);
  session_end(&s);
}

TENON_TEST(rnn_in_each_direction) {
  for (int i = 0; i < 3; ++i) {
    check("rnn", directions[i]);
  }
}

TENON_TEST(lstm_in_each_direction) {
  for (int i = 0; i < 3; ++i) {
    check("lstm", directions[i]);
  }
}

TENON_TEST(gru_in_each_direction) {
  for (int i = 0; i < 3; ++i) {
    check("gru", directions[i]);
  }
}

TENON_TEST(lstm_with_peepholes_and_clipping) {
  session_t s;
  REQUIRE(session_begin(&s, NULL));
  const tenon_value_t x = session_input(&s, "recurrent.x");
  const tenon_value_t w = session_constant(&s, "lstm.forward.w");
  const tenon_value_t r = session_constant(&s, "lstm.forward.r");
  const tenon_value_t p = session_constant(&s, "lstm.peephole");
  const tenon_value_t y =
      node(&s, "standard.lstm/1", VALUES(x, w, r, ABSENT, ABSENT, ABSENT, ABSENT, p),
           ATTRIBUTES(TENON_FLOAT("clip", 0.6)));
  session_output(&s, y, "lstm.peephole_y");
  session_check(&s);
  session_end(&s);
}

TENON_TEST(rnn_with_another_activation) {
  session_t s;
  tenon_value_t y = ABSENT;
  REQUIRE(session_begin(&s, NULL));
  const tenon_builder_table_t* table = tenon_builder_get_table();
  tenon_builder_t* builder = tenon_network_get_builder(s.network);
  EXPECT_STATUS(table->begin(builder, "standard.rnn/1", "rnn"), TENON_OK);
  EXPECT_STATUS(table->add_input(builder, session_input(&s, "recurrent.x")), TENON_OK);
  EXPECT_STATUS(table->add_input(builder, session_constant(&s, "rnn.forward.w")), TENON_OK);
  EXPECT_STATUS(table->add_input(builder, session_constant(&s, "rnn.forward.r")), TENON_OK);
  EXPECT_STATUS(table->attribute_strings(builder, "activations", (const char* const[]){"Relu"}, 1),
                TENON_OK);
  EXPECT_STATUS(table->end(builder, &y, 1), TENON_OK);
  session_output(&s, y, "rnn.relu_y");
  session_check(&s);
  session_end(&s);
}
