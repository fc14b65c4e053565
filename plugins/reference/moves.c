/* The kernel for moves: copies boxes, after writing the fill where they leave gaps. */
#include <string.h>

#include "interpreter.h"
#include "work.h"

tenon_status_t tenon__interpreter_tactics(void* state, const tenon_region_t* region,
                                          const tenon_region_table_t* table, tenon_emit_t* emit,
                                          tenon_status_t (*add)(tenon_emit_t* emit,
                                                                const tenon_tactic_t* tactic)) {
  (void)state;
  enum { MAX_ARGUMENTS = 256 };
  static const tenon_argument_rule_t any = {.flags = TENON_RULE_STRIDED};
  tenon_argument_rule_t rules[MAX_ARGUMENTS];
  uint32_t inputs = table->input_count(region);
  uint32_t outputs = table->output_count(region);
  uint32_t most = inputs > outputs ? inputs : outputs;
  for (uint32_t index = 0; index < most && index < MAX_ARGUMENTS; ++index) {
    rules[index] = any;
  }
  bool fits = most <= MAX_ARGUMENTS;
  tenon_tactic_t tactic = {.size = sizeof(tactic),
                           .name = "interpreted",
                           .inputs = fits ? rules : NULL,
                           .outputs = fits ? rules : NULL,
                           .launches = 1};
  return add(emit, &tactic);
}

/* Nothing to prepare: a move is known when its shapes are. */
tenon_status_t tenon__moves_prepare(const tenon_prepare_t* call, void** out_instance) {
  *out_instance = call->host->allocate(call->preparation, 1);
  return *out_instance == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

/* What bind leaves: the pieces, and a point for walking through boxes. */
typedef struct moves_t {
  const tenon_move_t* move;
  int64_t* point;
} moves_t;

tenon_status_t tenon__moves_bind(void* instance, tenon_binding_t* binding,
                                 const tenon_bind_table_t* host, void** out_bound) {
  (void)instance;
  moves_t* moves = host->allocate(binding, sizeof(*moves));
  const tenon_move_t* move = host->move(binding);
  if (moves == NULL || move == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY; /* or what the host knows */
  }
  moves->move = move;
  moves->point = host->allocate(binding, (move->rank + 1u) * sizeof(int64_t));
  *out_bound = moves;
  return moves->point == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

/* One element; elements of whole bytes are copied as they are. */
static tenon_status_t copy_element(const tenon_tensor_view_t* from, int64_t source,
                                   const tenon_tensor_view_t* to, int64_t target, tenon_run_t* run,
                                   const tenon_run_table_t* host) {
  size_t bytes = tenon__number_bits(to->dtype) / 8;
  if (to->dtype == TENON_DTYPE_STRING) {
    return host->copy_string(run, 0, ((const tenon_string_view_t*)from->data)[source],
                             (tenon_string_view_t*)to->data + target);
  }
  if (bytes > 0) {
    memcpy((char*)to->data + target * (int64_t)bytes,
           (const char*)from->data + source * (int64_t)bytes, bytes);
  } else {
    tenon__number_store(to->data, to->bit_offset, to->dtype, target,
                        tenon__number_load(from->data, from->bit_offset, from->dtype, source));
  }
  return TENON_OK;
}

/* Writes the fill everywhere. */
static tenon_status_t fill(const tenon_tensor_view_t* to, const tenon_tensor_view_t* value,
                           tenon_run_t* run, const tenon_run_table_t* host) {
  tenon_string_view_t empty = {"", 0};
  uint64_t zeros[2] = {0, 0};
  bool is_text = to->dtype == TENON_DTYPE_STRING;
  tenon_tensor_view_t nothing = {.data = is_text ? (void*)&empty : zeros, .dtype = to->dtype};
  int64_t count = tenon__dims_product(to->dims, 0, to->rank);
  tenon_status_t status = TENON_OK;
  for (int64_t place = 0; status == TENON_OK && place < count; ++place) {
    status = copy_element(value == NULL ? &nothing : value, 0, to, tenon__view_place(to, place),
                          run, host);
  }
  return status;
}

static tenon_status_t copy_piece(const moves_t* moves, const tenon_move_piece_t* piece,
                                 const tenon_tensor_view_t* from, const tenon_tensor_view_t* to,
                                 tenon_run_t* run, const tenon_run_table_t* host) {
  uint32_t rank = moves->move->rank;
  if (tenon__dims_product(piece->extent, 0, rank) == 0) {
    return TENON_OK;
  }
  for (uint32_t axis = 0; axis < rank; ++axis) {
    moves->point[axis] = 0;
  }
  tenon_status_t status = TENON_OK;
  uint64_t count = 0;
  do {
    if (++count % 4096 == 0 && tenon__is_cancelled(run, host)) {
      return TENON_ERROR_CANCELLED;
    }
    int64_t source = piece->offset;
    int64_t target = 0;
    for (uint32_t axis = 0; axis < rank; ++axis) {
      source += moves->point[axis] * piece->strides[axis];
      target += (piece->begin[axis] + moves->point[axis]) * to->strides[axis];
    }
    status = copy_element(from, source, to, target, run, host);
  } while (status == TENON_OK && tenon__point_next(moves->point, piece->extent, rank));
  return status;
}

tenon_status_t tenon__moves_enqueue(const tenon_enqueue_t* call) {
  const moves_t* moves = call->bound;
  const tenon_move_t* move = moves->move;
  const tenon_tensor_view_t* to = &call->outputs[0].tensor;
  tenon_status_t status = TENON_OK;
  if (move->covers_output == 0) {
    bool given = move->fill_argument != TENON_NONE;
    status =
        fill(to, given ? &call->inputs[move->fill_argument].tensor : NULL, call->run, call->host);
  }
  for (uint32_t index = 0; status == TENON_OK && index < move->piece_count; ++index) {
    const tenon_move_piece_t* piece = &move->pieces[index];
    status =
        copy_piece(moves, piece, &call->inputs[piece->input].tensor, to, call->run, call->host);
  }
  return status;
}
