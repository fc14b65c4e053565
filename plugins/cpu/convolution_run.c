/* Running a convolution: which way it goes for the extents at hand, and its tasks. */
#include "convolution.h"

/* ---- Binding ---- */

/* The innermost axes along which both images advance evenly make a segment; `in_place`: the rows of
 * the product are the pixels of x. */
static void find_segments(tenon__cpu_bound_convolution_t* bound, bool in_place) {
  const tenon__cpu_image_t* y = &bound->y;
  const tenon__cpu_image_t* x = &bound->x;
  const int64_t extents[] = {y->batch, y->extent[0], y->extent[1], y->extent[2]};
  const int64_t y_strides[] = {y->batch_stride, y->stride[0], y->stride[1], y->stride[2]};
  const int64_t x_strides[] = {x->batch_stride, x->stride[0], x->stride[1], x->stride[2]};
  int64_t rows = 1;
  int64_t segments = 1;
  bound->y_step = (size_t)y->channels;
  bound->x_step = in_place ? (size_t)x->channels : 0;
  for (size_t k = 4; k-- > 0;) {
    if (extents[k] == 1) {
      continue;
    }
    const bool first = rows == 1 && segments == 1;
    const bool even = y_strides[k] == (int64_t)bound->y_step * rows &&
                      (!in_place || x_strides[k] == (int64_t)bound->x_step * rows);
    if (first) {
      bound->y_step = (size_t)y_strides[k];
      bound->x_step = in_place ? (size_t)x_strides[k] : 0;
    }
    if (segments == 1 && (first || even)) {
      rows *= extents[k];
    } else {
      segments *= extents[k];
    }
  }
  bound->segments = (size_t)segments;
  bound->segment_rows = (size_t)rows;
}

static bool reads_pixels(const tenon__cpu_bound_convolution_t* bound) {
  const tenon__cpu_window_t* w = &bound->window;
  bool plain = bound->x.channel_stride == 1;
  for (size_t a = 0; a < TENON_CPU_AXES; a++) {
    plain = plain && w->kernel[a] == 1 && w->stride[a] == 1 && w->pad_begin[a] == 0 &&
            bound->x.extent[a] == bound->y.extent[a];
  }
  return plain;
}

static void choose_path(tenon__cpu_bound_convolution_t* bound) {
  bound->path = TENON_CPU_PATH_PATCHES;
  if (bound->convolution->small_groups) {
    bound->path = TENON_CPU_PATH_SMALL_GROUPS;
    bound->y_step = (size_t)bound->y.stride[2];
    return;
  }
  if (bound->convolution->prologue != NULL || reads_pixels(bound)) {
    bound->path = TENON_CPU_PATH_PIXELS;
  } else {
    tenon__cpu_band_plan(bound);
  }
  if (bound->path != TENON_CPU_PATH_LINES) {
    find_segments(bound, bound->path == TENON_CPU_PATH_PIXELS);
  }
}

/* x through the prologue, into rows of scratch. */
static tenon_status_t bind_prologue(tenon__cpu_bound_convolution_t* bound,
                                    const tenon__cpu_row_shape_t* shape, tenon_binding_t* handle,
                                    const tenon_bind_table_t* host) {
  const tenon__cpu_convolution_t* c = bound->convolution;
  if (c->prologue == NULL) {
    return TENON_OK;
  }
  const tenon__cpu_rows_request_t request = {
      .elements = c->isa->elements,
      .program = c->prologue,
      .shape = shape,
      .extents = host->space(handle, TENON_CPU_PROLOGUE),
      .value = {(int64_t)bound->x_step, bound->x.channel_stride},
      .made = {(int64_t)tenon__cpu_product_gather_stride(c->depth), 1}};
  return request.extents == NULL ? TENON_ERROR_OUT_OF_MEMORY
                                 : tenon__cpu_rows_bind(&request, handle, host, &bound->prologue);
}

tenon_status_t tenon__cpu_convolution_bind(void* instance, tenon_binding_t* handle,
                                           const tenon_bind_table_t* host, void** out_bound) {
  const tenon__cpu_convolution_t* c = instance;
  tenon__cpu_bound_convolution_t* bound = host->allocate(handle, sizeof(*bound));
  if (bound == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  const tenon_tensor_view_t* y = &host->output(handle, 0)->tensor;
  bound->convolution = c;
  bound->window = c->window;
  tenon__cpu_image_read(&host->input(handle, c->x)->tensor, &bound->x);
  tenon__cpu_image_read(y, &bound->y);
  tenon__cpu_window_fit(&bound->window, bound->x.extent, bound->y.extent);
  choose_path(bound);
  const tenon__cpu_row_shape_t shape = {
      .rank = y->rank - 1, .axes = {0, 2, 3, 4}, .column_axis = 1, .c_stride = bound->y_step};
  const tenon_status_t status = bind_prologue(bound, &shape, handle, host);
  *out_bound = bound;
  return status != TENON_OK
             ? status
             : tenon__cpu_epilogue_bind(&c->epilogue, &shape, !c->small_groups,
                                        c->bias != TENON_NONE, handle, host, &bound->epilogue);
}

/* ---- Running ---- */

void tenon__cpu_convolution_product(const tenon__cpu_convolution_call_t* call, size_t group,
                                    size_t first_row, const tenon__cpu_epilogue_task_t* finish,
                                    tenon__cpu_shifted_finish_t* out_shifted,
                                    tenon__cpu_product_t* inout_product) {
  const tenon__cpu_bound_convolution_t* bound = call->bound;
  const tenon__cpu_convolution_t* c = bound->convolution;
  const tenon__cpu_epilogue_call_t* epilogue = &call->epilogue;
  const tenon__cpu_pixel_t pixel = tenon__cpu_pixel_of(&bound->y, first_row);
  const size_t column = group * (size_t)c->out_channels;
  *out_shifted = (tenon__cpu_shifted_finish_t){finish, epilogue->finish, first_row, column};
  inout_product->tiles = c->isa->tiles;
  inout_product->columns = (size_t)c->out_channels;
  inout_product->depth = c->depth;
  inout_product->b = call->packed + group * c->packed_group;
  inout_product->panel_stride = c->depth * tenon__cpu_panel_width(c->isa->tiles);
  inout_product->c = call->y + tenon__cpu_pixel_offset(&bound->y, pixel) + column;
  inout_product->c_stride = bound->y_step;
  inout_product->bias = epilogue->bias != NULL ? epilogue->bias + column : NULL;
  inout_product->addend_stride = epilogue->addend_stride;
  inout_product->addend = epilogue->addend != NULL
                              ? epilogue->addend + first_row * epilogue->addend_stride + column
                              : NULL;
  inout_product->low = epilogue->low;
  inout_product->high = epilogue->high;
  inout_product->finish = epilogue->finish != NULL ? tenon__cpu_finish_shifted : NULL;
  inout_product->finish_user = out_shifted;
}

/* PIXELS and PATCHES. A task: a segment, a group, a part of the product's grid. */
static void product_task(void* user, uint32_t index, uint32_t thread) {
  const tenon__cpu_convolution_call_t* call = user;
  const tenon__cpu_bound_convolution_t* bound = call->bound;
  const tenon__cpu_convolution_t* c = bound->convolution;
  const size_t tasks = bound->grid.row_tasks * bound->grid.panel_tasks;
  const size_t unit = index / tasks;
  const size_t group = unit % (size_t)c->groups;
  const size_t first_row = unit / (size_t)c->groups * bound->segment_rows;
  char* scratch = call->scratch + thread * c->slot_bytes;
  const tenon__cpu_patches_t patches = {
      bound, call->x + (int64_t)group * c->in_channels * bound->x.channel_stride, first_row,
      call->inputs, scratch + c->image_bytes + c->epilogue_bytes};
  const tenon__cpu_epilogue_task_t finish = {&call->epilogue, scratch + c->image_bytes};
  tenon__cpu_shifted_finish_t shifted;
  tenon__cpu_product_t product = {.rows = bound->segment_rows};
  if (bound->path == TENON_CPU_PATH_PIXELS && bound->prologue == NULL) {
    const tenon__cpu_pixel_t pixel = tenon__cpu_pixel_of(&bound->y, first_row);
    product.a = patches.x + tenon__cpu_pixel_offset(&bound->x, pixel);
    product.a_stride = bound->x_step;
  } else {
    product.gather = tenon__cpu_gather_patches;
    product.gather_user = &patches;
  }
  tenon__cpu_convolution_product(call, group, first_row, &finish, &shifted, &product);
  tenon__cpu_product_task(&product, &bound->grid, index % tasks, (float*)(void*)scratch);
}

tenon_status_t tenon__cpu_convolution_enqueue(const tenon_enqueue_t* call) {
  const tenon__cpu_convolution_t* c = call->instance;
  tenon__cpu_bound_convolution_t* bound = call->bound;
  tenon__cpu_convolution_call_t job = {
      .bound = bound,
      .inputs = call->inputs,
      .x = call->inputs[c->x].tensor.data,
      .y = call->outputs[0].tensor.data,
      .packed = c->packed,
      .scratch = (char*)call->host->scratch(call->run) + c->shared_bytes};
  const float* bias = c->bias != TENON_NONE ? call->inputs[c->bias].tensor.data : NULL;
  const uint32_t threads = call->host->thread_count(call->run);
  if (tenon__cpu_image_pixels(&bound->y) * bound->y.batch == 0 || bound->y.channels == 0) {
    return TENON_OK;
  }
  if (c->packed == NULL) {
    job.packed = tenon__cpu_convolution_pack_now(c, call->inputs[c->w].tensor.data, call);
  }
  tenon__cpu_epilogue_start(bound->epilogue, call->inputs, bias, &job.epilogue);
  if (bound->path == TENON_CPU_PATH_SMALL_GROUPS) {
    const uint32_t tasks = tenon__cpu_small_groups_tasks(&job, threads);
    tenon__cpu_parallel(call, tasks, tenon__cpu_small_groups_task, &job);
    return TENON_OK;
  }
  if (bound->path == TENON_CPU_PATH_LINES) {
    const uint32_t tasks = tenon__cpu_band_tasks(bound, threads);
    tenon__cpu_parallel(call, tasks, tenon__cpu_band_task, &job);
    return TENON_OK;
  }
  const size_t units = bound->segments * (size_t)c->groups;
  tenon__cpu_product_grid(c->isa->tiles, bound->segment_rows, (size_t)c->out_channels, units,
                          threads, &bound->grid);
  tenon__cpu_parallel(call, (uint32_t)(units * bound->grid.row_tasks * bound->grid.panel_tasks),
                      product_task, &job);
  return TENON_OK;
}
