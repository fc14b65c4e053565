/* Attention at the extents of a binding, and launched. */
#include <string.h>

#include "attention.h"

typedef struct bound_t {
  const tenon__cuda_attending_t* instance;
  tenon__cuda_scores_bound_t scores;
  tenon__cuda_attention_shape_t shape;
  bool has_wide_rows; /* by the strides; an address may say otherwise */
  bool has_wide_results;
  tenon__cuda_launch_t launch;
} bound_t;

static tenon_status_t refuse(tenon_binding_t* handle, const tenon_bind_table_t* host,
                             const char* what) {
  return tenon__cuda_fail(host->sink == NULL ? NULL : host->sink(handle), TENON_ERROR_UNSUPPORTED,
                          "%s", what);
}

/* Elements from one to the next, axes of one element standing still. True: rows of words of 16
 * bytes, which are `word` elements. `turned`: features, then rows. */
static bool read_lines(const tenon_tensor_view_t* view, uint32_t rank, int64_t word, bool turned,
                       tenon__cuda_lines_t* out) {
  const uint32_t missing = rank - view->rank;
  const uint32_t row = view->rank - (turned ? 1 : 2);
  const uint32_t feature = view->rank - (turned ? 2 : 1);
  bool wide = view->strides[feature] == 1;
  *out = (tenon__cuda_lines_t){.feature = view->strides[feature]};
  for (uint32_t axis = 0; axis < view->rank; axis++) {
    const int64_t stride = view->dims[axis] == 1 ? 0 : view->strides[axis];
    if (axis == feature) {
      continue;
    }
    *(axis == row ? &out->row : &out->outer[missing + axis]) = stride;
    wide = wide && stride % word == 0;
  }
  return wide;
}

static tenon_status_t bind_shape(bound_t* bound, tenon_binding_t* handle,
                                 const tenon_bind_table_t* host) {
  const tenon__cuda_attending_t* a = bound->instance;
  const uint32_t rank = a->attention.rank;
  const tenon_tensor_view_t* q = &host->input(handle, a->attention.q->input)->tensor;
  const tenon_tensor_view_t* kt = &host->input(handle, a->attention.kt->input)->tensor;
  const tenon_tensor_view_t* v = &host->input(handle, a->attention.v->input)->tensor;
  const tenon_tensor_view_t* y = &host->output(handle, 0)->tensor;
  tenon__cuda_attention_shape_t* s = &bound->shape;
  int64_t extents[TENON_CUDA_AXES] = {0}; /* of the scores */
  const int64_t queries = y->dims[rank - 2];
  const int64_t keys = kt->dims[kt->rank - 1];
  const int64_t word = 16 / tenon__cuda_attention_bytes(a->choice.product);
  const int64_t block = tenon__cuda_attention_queries(a->choice);
  const int64_t tiles = (queries + block - 1) / block;
  double blocks = (double)tiles;
  memcpy(extents, y->dims, rank * sizeof(*extents));
  extents[rank - 1] = keys;
  for (uint32_t axis = 0; axis + 2 < rank; axis++) {
    blocks *= (double)extents[axis];
  }
  if (queries > INT32_MAX / 2 || keys > INT32_MAX / 2 || blocks > INT32_MAX) {
    return refuse(handle, host, "more than 2^30 queries or keys, or 2^31 tiles");
  }
  bound->has_wide_rows = read_lines(q, rank, word, false, &s->lines[0]);
  bound->has_wide_rows = read_lines(kt, rank, word, true, &s->lines[1]) && bound->has_wide_rows;
  bound->has_wide_rows = read_lines(v, rank, word, false, &s->lines[2]) && bound->has_wide_rows;
  bound->has_wide_results = read_lines(y, rank, word, false, &s->lines[3]);
  s->queries = (int32_t)queries;
  s->keys = (int32_t)keys;
  bound->launch = (tenon__cuda_launch_t){
      .blocks = (uint32_t)blocks,
      .threads = tenon__cuda_attention_threads(a->choice),
      .shared_bytes = tenon__cuda_attention_shared(&a->attention, a->choice)};
  s->releases_early = (int32_t)blocks <= a->device->multiprocessors ? 1 : 0;
  return tenon__cuda_scores_bind(&bound->scores, handle, host, extents, tiles)
             ? TENON_OK
             : refuse(handle, host, "a tensor that reaches over more than 2^31 elements");
}

tenon_status_t tenon__cuda_attention_bind(void* instance, tenon_binding_t* handle,
                                          const tenon_bind_table_t* host, void** out_bound) {
  const tenon__cuda_attending_t* a = instance;
  bound_t* bound = host->allocate(handle, sizeof(*bound));
  uint8_t* parameters =
      bound == NULL ? NULL : host->allocate(handle, a->scores.layout.total + sizeof(bound->shape));
  if (parameters == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  bound->instance = a;
  bound->scores.scores = &a->scores;
  bound->scores.parameters = parameters;
  const tenon_status_t status = bind_shape(bound, handle, host);
  if (status == TENON_OK) {
    *out_bound = bound;
  }
  return status;
}

tenon_status_t tenon__cuda_attention_enqueue(const tenon_enqueue_t* call) {
  bound_t* bound = call->bound;
  const tenon__cuda_attending_t* a = bound->instance;
  tenon__cuda_attention_shape_t* s = &bound->shape;
  s->q = call->inputs[a->attention.q->input].tensor.data;
  s->k = call->inputs[a->attention.kt->input].tensor.data;
  s->v = call->inputs[a->attention.v->input].tensor.data;
  s->y = call->outputs[0].tensor.data;
  s->wide_y = bound->has_wide_results && (uintptr_t)s->y % 16 == 0 ? 1 : 0;
  const bool is_wide =
      bound->has_wide_rows && ((uintptr_t)s->q | (uintptr_t)s->k | (uintptr_t)s->v) % 16 == 0;
  if (bound->launch.blocks == 0) {
    return TENON_OK;
  }
  memcpy(bound->scores.parameters + a->scores.layout.total, s, sizeof(*s));
  tenon__cuda_scores_enqueue(&bound->scores, call);
  bound->launch.kernel = is_wide ? a->wide : a->any;
  return tenon__cuda_launch(a->device, call, &bound->launch, bound->scores.parameters);
}
