/*
 * Recurrent layers, as ONNX defines LSTM, GRU and RNN. One row of a batch walks through time at
 * once; a cell turns its input and state into the next state. lstm  i o f c: c' = f c + i
 * g(c-gate), h' = o h(c'), with peepholes i + pi c, f + pf c, o + po c' gru   z r h:   h' = (1 - z)
 * g(h-gate) + z h rnn   h' = f(gate)
 */
#include <math.h>

#include "kernels.h"

typedef struct activation_t {
  double (*apply)(double value, double alpha, double beta);
  double alpha;
  double beta;
} activation_t;

/* One direction of a layer. */
typedef struct layer_t {
  int64_t time;
  int64_t batch;
  int64_t features;
  int64_t hidden;
  int64_t gates;
  double clip;
  bool couples;      /* input_forget */
  bool resets_after; /* linear_before_reset */
  activation_t activations[3];
  const tenon__number_t* w;
  const tenon__number_t* r;
  const tenon__number_t* b; /* NULL: zeros */
  const tenon__number_t* p; /* NULL: zeros */
  /* Scratch: state h and cell c, their successors, reset gates. */
  double* h;
  double* c;
  double* next_h;
  double* next_c;
  double* resets;
} layer_t;

static double affine(double x, double alpha, double beta) {
  return alpha * x + beta;
}
static double elu(double x, double alpha, double beta) {
  (void)beta;
  return x >= 0.0 ? x : alpha * expm1(x);
}
static double hard_sigmoid(double x, double alpha, double beta) {
  return fmin(fmax(alpha * x + beta, 0.0), 1.0);
}
static double leaky_relu(double x, double alpha, double beta) {
  (void)beta;
  return x >= 0.0 ? x : alpha * x;
}
static double relu(double x, double alpha, double beta) {
  (void)alpha;
  (void)beta;
  return fmax(x, 0.0);
}
static double scaled_tanh(double x, double alpha, double beta) {
  return alpha * tanh(beta * x);
}
static double sigmoid(double x, double alpha, double beta) {
  (void)alpha;
  (void)beta;
  return 1.0 / (1.0 + exp(-x));
}
static double softplus(double x, double alpha, double beta) {
  (void)alpha;
  (void)beta;
  return fmax(x, 0.0) + log1p(exp(-fabs(x)));
}
static double softsign(double x, double alpha, double beta) {
  (void)alpha;
  (void)beta;
  return x / (1.0 + fabs(x));
}
static double hyperbolic_tangent(double x, double alpha, double beta) {
  (void)alpha;
  (void)beta;
  return tanh(x);
}
static double thresholded_relu(double x, double alpha, double beta) {
  (void)beta;
  return x > alpha ? x : 0.0;
}

/* Name, function, which parameters it takes from the lists, and their defaults. */
static const struct {
  const char* name;
  double (*apply)(double value, double alpha, double beta);
  bool takes_alpha;
  bool takes_beta;
  double alpha;
  double beta;
} functions[] = {
    {"affine", affine, true, true, 1.0, 0.0},
    {"elu", elu, true, false, 1.0, 0.0},
    {"hardsigmoid", hard_sigmoid, true, true, 0.2, 0.5},
    {"leakyrelu", leaky_relu, true, false, 0.01, 0.0},
    {"relu", relu, false, false, 0.0, 0.0},
    {"scaledtanh", scaled_tanh, true, true, 1.0, 1.0},
    {"sigmoid", sigmoid, false, false, 0.0, 0.0},
    {"softplus", softplus, false, false, 0.0, 0.0},
    {"softsign", softsign, false, false, 0.0, 0.0},
    {"tanh", hyperbolic_tangent, false, false, 0.0, 0.0},
    {"thresholdedrelu", thresholded_relu, true, false, 1.0, 0.0},
};

/* "HardSigmoid", "hard_sigmoid": letter case and underscores do not count. */
static bool same_name(const char* given, const char* name) {
  for (; *given != '\0'; ++given) {
    if (*given == '_') {
      continue;
    }
    bool is_upper = *given >= 'A' && *given <= 'Z';
    if ((is_upper ? *given - 'A' + 'a' : *given) != *name) {
      return false;
    }
    ++name;
  }
  return *name == '\0';
}

/* Activations of one direction: `count` of them, from the lists or the usual ones. */
static tenon_status_t set_activations(const tenon__work_t* work, layer_t* layer, int64_t direction,
                                      const char* const* usual, size_t count) {
  const tenon__attribute_t* names = tenon__work_attribute(work, "activations");
  const tenon__attribute_t* alphas = tenon__work_attribute(work, "activation_alpha");
  const tenon__attribute_t* betas = tenon__work_attribute(work, "activation_beta");
  size_t alpha = 0;
  size_t beta = 0;
  size_t first = (size_t)direction * count;
  for (size_t index = 0; index < first + count; ++index) {
    const char* name = index < names->count ? names->strings[index] : usual[index % count];
    size_t found = 0;
    while (found < sizeof(functions) / sizeof(functions[0]) &&
           !same_name(name, functions[found].name)) {
      ++found;
    }
    if (found == sizeof(functions) / sizeof(functions[0])) {
      return tenon__work_fail(work, "unknown activation '%s'", name);
    }
    activation_t activation = {functions[found].apply, functions[found].alpha,
                               functions[found].beta};
    if (functions[found].takes_alpha && alpha < alphas->count) {
      activation.alpha = alphas->numbers[alpha++];
    }
    if (functions[found].takes_beta && beta < betas->count) {
      activation.beta = betas->numbers[beta++];
    }
    if (index >= first) {
      layer->activations[index - first] = activation;
    }
  }
  return TENON_OK;
}

static double activate(const layer_t* layer, uint32_t which, double value) {
  const activation_t* activation = &layer->activations[which];
  if (layer->clip > 0.0) {
    value = fmin(fmax(value, -layer->clip), layer->clip);
  }
  return activation->apply(value, activation->alpha, activation->beta);
}

/* What gate `gate` of unit `unit` gets from the input, and from the state. */
static double from_input(const layer_t* layer, int64_t gate, int64_t unit,
                         const tenon__number_t* x) {
  int64_t row = gate * layer->hidden + unit;
  double sum = layer->b == NULL ? 0.0 : layer->b[row].f;
  for (int64_t k = 0; k < layer->features; ++k) {
    sum += x[k].f * layer->w[row * layer->features + k].f;
  }
  return sum;
}

static double from_state(const layer_t* layer, int64_t gate, int64_t unit, const double* h) {
  int64_t row = gate * layer->hidden + unit;
  double sum = layer->b == NULL ? 0.0 : layer->b[layer->gates * layer->hidden + row].f;
  for (int64_t k = 0; k < layer->hidden; ++k) {
    sum += h[k] * layer->r[row * layer->hidden + k].f;
  }
  return sum;
}

static double gate_sum(const layer_t* layer, int64_t gate, int64_t unit, const tenon__number_t* x) {
  return from_input(layer, gate, unit, x) + from_state(layer, gate, unit, layer->h);
}

static double peephole(const layer_t* layer, int64_t which, int64_t unit) {
  return layer->p == NULL ? 0.0 : layer->p[which * layer->hidden + unit].f;
}

static void lstm_cell(const layer_t* layer, const tenon__number_t* x) {
  for (int64_t unit = 0; unit < layer->hidden; ++unit) {
    double c = layer->c[unit];
    double i = activate(layer, 0, gate_sum(layer, 0, unit, x) + peephole(layer, 0, unit) * c);
    double f = layer->couples
                   ? 1.0 - i
                   : activate(layer, 0, gate_sum(layer, 2, unit, x) + peephole(layer, 2, unit) * c);
    double next = f * c + i * activate(layer, 1, gate_sum(layer, 3, unit, x));
    double o = activate(layer, 0, gate_sum(layer, 1, unit, x) + peephole(layer, 1, unit) * next);
    layer->next_c[unit] = next;
    layer->next_h[unit] = o * activate(layer, 2, next);
  }
}

static void gru_cell(const layer_t* layer, const tenon__number_t* x) {
  for (int64_t unit = 0; unit < layer->hidden; ++unit) {
    double reset = activate(layer, 0, gate_sum(layer, 1, unit, x));
    layer->resets[unit] = layer->resets_after ? reset : reset * layer->h[unit];
  }
  for (int64_t unit = 0; unit < layer->hidden; ++unit) {
    double z = activate(layer, 0, gate_sum(layer, 0, unit, x));
    double state = layer->resets_after ? layer->resets[unit] * from_state(layer, 2, unit, layer->h)
                                       : from_state(layer, 2, unit, layer->resets);
    double proposed = activate(layer, 1, from_input(layer, 2, unit, x) + state);
    layer->next_h[unit] = (1.0 - z) * proposed + z * layer->h[unit];
  }
}

static void rnn_cell(const layer_t* layer, const tenon__number_t* x) {
  for (int64_t unit = 0; unit < layer->hidden; ++unit) {
    layer->next_h[unit] = activate(layer, 0, gate_sum(layer, 0, unit, x));
  }
}

/* What differs between the three. */
typedef struct cell_t {
  int64_t gates;
  size_t activation_count;
  const char* usual[3];
  void (*step)(const layer_t* layer, const tenon__number_t* x);
} cell_t;

/* Scratch: five vectors of hidden size. */
int64_t tenon__scratch_recurrent(const tenon__work_t* work) {
  return 5 * tenon__work_input(work, 2)->dims[2];
}

/* Place of (step, batch) in x and y, whichever comes first. */
static int64_t time_place(const layer_t* layer, bool batch_first, int64_t step, int64_t row) {
  return batch_first ? row * layer->time + step : step * layer->batch + row;
}

/* Place of a state's vector: [directions, batch, hidden], or batch first. */
static int64_t state_place(const layer_t* layer, bool batch_first, int64_t directions,
                           int64_t direction, int64_t row) {
  return (batch_first ? row * directions + direction : direction * layer->batch + row) *
         layer->hidden;
}

static void load_state(const layer_t* layer, double* to, const tenon__array_t* from,
                       int64_t place) {
  for (int64_t unit = 0; unit < layer->hidden; ++unit) {
    to[unit] = from == NULL ? 0.0 : from->at[place + unit].f;
  }
}

static void store_state(const layer_t* layer, const double* from, tenon__array_t* to,
                        int64_t place) {
  if (to != NULL) {
    for (int64_t unit = 0; unit < layer->hidden; ++unit) {
      to->at[place + unit].f = from[unit];
    }
  }
}

/* One row of the batch through time in one direction. */
static void walk(tenon__work_t* work, const layer_t* layer, const cell_t* cell, int64_t directions,
                 int64_t direction, int64_t row) {
  bool batch_first = tenon__work_int(work, "layout") != 0;
  bool backwards = direction == 1 || tenon__work_is(work, "direction", "reverse");
  const tenon__array_t* x = tenon__work_input(work, 0);
  const tenon__array_t* lengths = tenon__work_input(work, 4);
  tenon__array_t* y = tenon__work_output(work, 0);
  int64_t length = lengths == NULL ? layer->time : lengths->at[row].i;
  int64_t state = state_place(layer, batch_first, directions, direction, row);
  load_state(layer, layer->h, tenon__work_input(work, 5), state);
  load_state(layer, layer->c, tenon__work_input(work, 6), state);
  for (int64_t step = 0; step < layer->time && !tenon__work_is_cancelled(work); ++step) {
    int64_t at = backwards && step < length ? length - 1 - step : step;
    int64_t from = time_place(layer, batch_first, at, row);
    int64_t to = batch_first ? (from * directions + direction) * layer->hidden
                             : ((at * directions + direction) * layer->batch + row) * layer->hidden;
    if (step < length) {
      cell->step(layer, x->at + from * layer->features);
      for (int64_t unit = 0; unit < layer->hidden; ++unit) {
        layer->h[unit] = layer->next_h[unit];
        layer->c[unit] = layer->next_c[unit];
      }
    }
    if (y != NULL) {
      for (int64_t unit = 0; unit < layer->hidden; ++unit) {
        y->at[to + unit].f = step < length ? layer->h[unit] : 0.0;
      }
    }
  }
  store_state(layer, layer->h, tenon__work_output(work, 1), state);
  store_state(layer, layer->c, tenon__work_output(work, 2), state);
}

static tenon_status_t run_layer(tenon__work_t* work, const cell_t* cell) {
  const tenon__array_t* x = tenon__work_input(work, 0);
  const tenon__array_t* w = tenon__work_input(work, 1);
  const tenon__array_t* r = tenon__work_input(work, 2);
  const tenon__array_t* b = tenon__work_input(work, 3);
  const tenon__array_t* p = tenon__work_input(work, 7);
  const tenon__array_t* lengths = tenon__work_input(work, 4);
  bool batch_first = tenon__work_int(work, "layout") != 0;
  int64_t hidden = r->dims[2];
  double* scratch = &work->scratch[0].f;
  layer_t layer = {.time = x->dims[batch_first ? 1 : 0],
                   .batch = x->dims[batch_first ? 0 : 1],
                   .features = x->dims[2],
                   .hidden = hidden,
                   .gates = cell->gates,
                   .clip = tenon__work_float(work, "clip"),
                   .couples = tenon__work_int(work, "input_forget") != 0,
                   .resets_after = tenon__work_int(work, "linear_before_reset") != 0,
                   .h = scratch,
                   .c = scratch + hidden,
                   .next_h = scratch + 2 * hidden,
                   .next_c = scratch + 3 * hidden,
                   .resets = scratch + 4 * hidden};
  if (lengths != NULL) {
    for (int64_t row = 0; row < layer.batch; ++row) {
      if (lengths->at[row].i < 0 || lengths->at[row].i > layer.time) {
        return tenon__work_fail(work, "length %lld is out of range for %lld steps",
                                (long long)lengths->at[row].i, (long long)layer.time);
      }
    }
  }
  for (int64_t direction = 0; direction < w->dims[0]; ++direction) {
    tenon_status_t status =
        set_activations(work, &layer, direction, cell->usual, cell->activation_count);
    if (status != TENON_OK) {
      return status;
    }
    layer.w = w->at + direction * cell->gates * hidden * layer.features;
    layer.r = r->at + direction * cell->gates * hidden * hidden;
    layer.b = b == NULL ? NULL : b->at + direction * 2 * cell->gates * hidden;
    layer.p = p == NULL ? NULL : p->at + direction * 3 * hidden;
    for (int64_t row = 0; row < layer.batch; ++row) {
      walk(work, &layer, cell, w->dims[0], direction, row);
    }
  }
  return TENON_OK;
}

tenon_status_t tenon__compute_lstm(tenon__work_t* work) {
  static const cell_t cell = {4, 3, {"sigmoid", "tanh", "tanh"}, lstm_cell};
  return run_layer(work, &cell);
}

tenon_status_t tenon__compute_gru(tenon__work_t* work) {
  static const cell_t cell = {3, 2, {"sigmoid", "tanh"}, gru_cell};
  return run_layer(work, &cell);
}

tenon_status_t tenon__compute_rnn(tenon__work_t* work) {
  static const cell_t cell = {1, 1, {"tanh"}, rnn_cell};
  return run_layer(work, &cell);
}
