/* Index maps in numbers: strides of views, boxes of affine moves. Nothing is allocated. */
#include "core/tensor/index_map_run.h"

#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/dimension/dimension_evaluate.h"
#include "core/tensor/layout.h"

static bool affine_at(const tenon__extents_t* extents, tenon_dim_t dim, uint32_t axis_count,
                      int64_t* out_base, int64_t* out_parts) {
  const tenon__dim_point_t point = {
      .values = extents->values, .known = extents->known, .coordinate_count = axis_count};
  return tenon__dim_affine_at(extents->pool, dim, &point, out_base, out_parts);
}

tenon_status_t tenon__coordinates_view(const tenon__extents_t* extents,
                                       const tenon__map_source_t* source, uint32_t space_rank,
                                       const int64_t* strides, int64_t* out_strides,
                                       int64_t* out_offset) {
  int64_t sums[TENON_RANK_LIMIT + 1] = {0};
  if (space_rank > TENON_RANK_LIMIT) {
    return TENON_ERROR_UNSUPPORTED;
  }
  for (uint32_t i = 0; i < source->rank; ++i) {
    int64_t parts[TENON_RANK_LIMIT] = {0};
    int64_t base = 0;
    if (!affine_at(extents, source->coordinates[i], space_rank, &base, parts) ||
        !tenon__add_product(base, strides[i], &sums[space_rank])) {
      return TENON_ERROR_UNSUPPORTED;
    }
    for (uint32_t k = 0; k < space_rank; ++k) {
      if (!tenon__add_product(parts[k], strides[i], &sums[k])) {
        return TENON_ERROR_UNSUPPORTED;
      }
    }
  }
  if (space_rank > 0) {
    memcpy(out_strides, sums, space_rank * sizeof(sums[0]));
  }
  *out_offset = sums[space_rank];
  return TENON_OK;
}

/* Axes of one side of a view, and how many of them are dealt with. */
typedef struct side_t {
  uint32_t rank;
  const int64_t* dims;
  const int64_t* strides; /* of the input */
  uint32_t at;
} side_t;

/* Moves both sides to the end of the shortest groups of axes that hold equally many elements. False
 * when there are none, or when the input's axes do not lie densely one in the other. */
static bool pass_group(side_t* input, side_t* output) {
  int64_t taken = input->dims[input->at++];
  int64_t made = output->dims[output->at++];
  while (taken != made) {
    if (taken < made && input->at < input->rank) {
      int64_t inner = 0;
      if (!tenon__multiply_int64(input->dims[input->at], input->strides[input->at], &inner) ||
          input->strides[input->at - 1] != inner) {
        return false;
      }
      taken *= input->dims[input->at++];
    } else if (made < taken && output->at < output->rank) {
      made *= output->dims[output->at++];
    } else {
      return false;
    }
  }
  return true;
}

/* Strides under other extents without a copy: groups of axes that lie densely one in the other on
 * the input's side are split anew on the output's. The input has no extents of 1; the output's are
 * free. */
static tenon_status_t view_linear(side_t input, side_t output, int64_t* out_strides) {
  int64_t strides[TENON_RANK_LIMIT] = {0};
  while (output.at < output.rank || input.at < input.rank) {
    if (output.at < output.rank && output.dims[output.at] == 1) {
      strides[output.at++] = 0;
      continue;
    }
    if (input.at == input.rank || output.at == output.rank) {
      return TENON_ERROR_UNSUPPORTED; /* element counts differ */
    }
    const uint32_t first = output.at;
    if (!pass_group(&input, &output)) {
      return TENON_ERROR_UNSUPPORTED;
    }
    int64_t stride = input.strides[input.at - 1];
    for (uint32_t i = output.at; i > first; --i) {
      strides[i - 1] = stride;
      stride *= output.dims[i - 1];
    }
  }
  if (output.rank > 0) {
    memcpy(out_strides, strides, output.rank * sizeof(strides[0]));
  }
  return TENON_OK;
}

/* Drops extents of 1, so that view_linear sees none in the middle of a group. */
static uint32_t without_ones(uint32_t rank, const int64_t* dims, const int64_t* strides,
                             int64_t* out_dims, int64_t* out_strides) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < rank; ++i) {
    if (dims[i] != 1) {
      out_dims[count] = dims[i];
      out_strides[count++] = strides[i];
    }
  }
  return count;
}

tenon_status_t tenon__index_map_view(const tenon__extents_t* extents, const tenon__index_map_t* map,
                                     const int64_t* input_dims, const int64_t* input_strides,
                                     int64_t* out_strides, int64_t* out_offset) {
  const tenon__map_source_t* source = &map->sources[0];
  if (map->source_count != 1 || source->rank > TENON_RANK_LIMIT || map->rank > TENON_RANK_LIMIT) {
    return TENON_ERROR_UNSUPPORTED;
  }
  if (map->kind != TENON_MAP_LINEAR) {
    return tenon__coordinates_view(extents, source, map->rank, input_strides, out_strides,
                                   out_offset);
  }
  int64_t dims[TENON_RANK_LIMIT] = {0};
  uint64_t count = 0;
  uint64_t input_count = 0;
  if (!tenon__extents_shape(extents, map->rank, map->dims, dims) ||
      !tenon__element_count(map->rank, dims, &count) ||
      !tenon__element_count(source->rank, input_dims, &input_count) || count != input_count) {
    return TENON_ERROR_UNSUPPORTED;
  }
  int64_t kept_dims[TENON_RANK_LIMIT] = {0};
  int64_t kept_strides[TENON_RANK_LIMIT] = {0};
  const uint32_t kept =
      without_ones(source->rank, input_dims, input_strides, kept_dims, kept_strides);
  if (count == 0) {
    (void)tenon__strides_row_major(map->rank, dims, out_strides);
  } else {
    const side_t input = {.rank = kept, .dims = kept_dims, .strides = kept_strides};
    const side_t output = {.rank = map->rank, .dims = dims};
    TENON_TRY(view_linear(input, output, out_strides));
  }
  *out_offset = 0;
  return TENON_OK;
}

typedef struct box_t {
  int64_t begin[TENON_RANK_LIMIT];
  int64_t end[TENON_RANK_LIMIT];
} box_t;

/* Boxes being cut, in the caller's storage: begin and extent (as an end until finished). */
typedef struct cutting_t {
  uint32_t rank;
  tenon_move_piece_t* pieces;
  int64_t* storage;
  uint32_t count;
  uint32_t capacity;
  int64_t ends[TENON_RANK_LIMIT]; /* the largest of all sources so far */
} cutting_t;

static int64_t* begin_of(const cutting_t* cutting, uint32_t piece) {
  return cutting->storage + (size_t)piece * 3 * cutting->rank;
}
static int64_t* end_of(const cutting_t* cutting, uint32_t piece) {
  return begin_of(cutting, piece) + cutting->rank;
}
static int64_t* strides_of(const cutting_t* cutting, uint32_t piece) {
  return begin_of(cutting, piece) + 2 * (size_t)cutting->rank;
}

static bool add_box(cutting_t* cutting, uint32_t input, const int64_t* begin, const int64_t* end) {
  if (cutting->count == cutting->capacity) {
    return false;
  }
  const uint32_t piece = cutting->count++;
  cutting->pieces[piece] = (tenon_move_piece_t){.input = input};
  for (uint32_t i = 0; i < cutting->rank; ++i) {
    begin_of(cutting, piece)[i] = begin[i];
    end_of(cutting, piece)[i] = end[i];
  }
  return true;
}

static bool overlap(const cutting_t* cutting, uint32_t a, uint32_t b) {
  for (uint32_t i = 0; i < cutting->rank; ++i) {
    if (begin_of(cutting, a)[i] >= end_of(cutting, b)[i] ||
        begin_of(cutting, b)[i] >= end_of(cutting, a)[i]) {
      return false;
    }
  }
  return true;
}

/* Cuts off what of box `piece` lies outside of box `taken`, axis by axis, as new boxes; what is
 * left lies inside and goes. */
static bool subtract(cutting_t* cutting, uint32_t piece, uint32_t taken) {
  const uint32_t input = cutting->pieces[piece].input;
  for (uint32_t i = 0; i < cutting->rank; ++i) {
    int64_t* begin = begin_of(cutting, piece);
    int64_t* end = end_of(cutting, piece);
    const int64_t low = begin_of(cutting, taken)[i];
    const int64_t high = end_of(cutting, taken)[i];
    if (begin[i] < low) {
      const int64_t whole = end[i];
      end[i] = low;
      if (!add_box(cutting, input, begin, end)) {
        return false;
      }
      end[i] = whole;
      begin[i] = low;
    }
    if (end[i] > high) {
      const int64_t whole = begin[i];
      begin[i] = high;
      if (!add_box(cutting, input, begin, end)) {
        return false;
      }
      begin[i] = whole;
      end[i] = high;
    }
  }
  end_of(cutting, piece)[0] = begin_of(cutting, piece)[0]; /* empty */
  return true;
}

static bool is_empty(const cutting_t* cutting, uint32_t piece) {
  for (uint32_t i = 0; i < cutting->rank; ++i) {
    if (begin_of(cutting, piece)[i] >= end_of(cutting, piece)[i]) {
      return true;
    }
  }
  return false;
}

/* Floor and ceiling of a / b for any b but 0. */
static int64_t divide_down(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}
static int64_t divide_up(int64_t a, int64_t b) {
  return a / b + (a % b != 0 && (a < 0) == (b < 0) ? 1 : 0);
}

/* Narrows the box to where 0 <= base + part * o < extent. */
static bool narrow(box_t* box, uint32_t axis, int64_t base, int64_t part, int64_t extent) {
  int64_t high = 0;
  if (base == INT64_MIN || !tenon__add_int64(extent - 1, -base, &high)) {
    return false;
  }
  const int64_t low = -base;
  const int64_t first = part > 0 ? divide_up(low, part) : divide_up(high, part);
  const int64_t last = part > 0 ? divide_down(high, part) : divide_down(low, part);
  box->begin[axis] = first > box->begin[axis] ? first : box->begin[axis];
  box->end[axis] = last < box->end[axis] - 1 ? last + 1 : box->end[axis];
  return true;
}

/* The box in which all coordinates of the source are in range. */
static tenon_status_t source_box(const tenon__extents_t* extents, const tenon__index_map_t* map,
                                 const tenon__map_source_t* source, const int64_t* dims,
                                 box_t* out_box) {
  int64_t source_dims[TENON_RANK_LIMIT] = {0};
  if (!tenon__extents_shape(extents, source->rank, source->dims, source_dims)) {
    return TENON_ERROR_UNSUPPORTED;
  }
  for (uint32_t i = 0; i < map->rank; ++i) {
    out_box->begin[i] = 0;
    out_box->end[i] = dims[i];
  }
  bool empty = false;
  for (uint32_t d = 0; d < source->rank; ++d) {
    int64_t parts[TENON_RANK_LIMIT] = {0};
    int64_t base = 0;
    uint32_t axis = TENON_NONE;
    if (!affine_at(extents, source->coordinates[d], map->rank, &base, parts)) {
      return TENON_ERROR_UNSUPPORTED;
    }
    for (uint32_t i = 0; i < map->rank; ++i) {
      if (parts[i] != 0 && axis != TENON_NONE) {
        return TENON_ERROR_UNSUPPORTED;
      }
      axis = parts[i] != 0 ? i : axis;
    }
    if (axis == TENON_NONE) {
      empty = empty || base < 0 || base >= source_dims[d];
    } else if (!narrow(out_box, axis, base, parts[axis], source_dims[d])) {
      return TENON_ERROR_UNSUPPORTED;
    }
  }
  if (empty && map->rank > 0) {
    out_box->end[0] = out_box->begin[0];
  }
  return empty && map->rank == 0 ? TENON_ERROR_NOT_FOUND : TENON_OK;
}

/* Does a box lie behind all that were added, as those of pieces put one after the other do? */
static bool lies_behind(cutting_t* cutting, const box_t* box) {
  bool behind = false;
  for (uint32_t i = 0; i < cutting->rank; ++i) {
    behind = behind || box->begin[i] >= cutting->ends[i];
    cutting->ends[i] = box->end[i] > cutting->ends[i] ? box->end[i] : cutting->ends[i];
  }
  return behind;
}

/* Appends the source's box less what earlier sources supply. */
static tenon_status_t cut_source(cutting_t* cutting, uint32_t input, const box_t* box) {
  const uint32_t earlier = cutting->count;
  const uint32_t before = lies_behind(cutting, box) ? 0 : earlier;
  if (!add_box(cutting, input, box->begin, box->end)) {
    return TENON_ERROR_UNSUPPORTED;
  }
  for (uint32_t piece = earlier; piece < cutting->count; ++piece) {
    for (uint32_t taken = 0; taken < before && !is_empty(cutting, piece); ++taken) {
      if (!overlap(cutting, piece, taken)) {
        continue;
      }
      if (cutting->rank == 0) {
        cutting->count = earlier;
        return TENON_OK;
      }
      if (!subtract(cutting, piece, taken)) {
        return TENON_ERROR_UNSUPPORTED;
      }
    }
  }
  uint32_t kept = earlier;
  for (uint32_t piece = earlier; piece < cutting->count; ++piece) {
    if (!is_empty(cutting, piece)) {
      memmove(begin_of(cutting, kept), begin_of(cutting, piece),
              3 * (size_t)cutting->rank * sizeof(int64_t));
      cutting->pieces[kept++] = cutting->pieces[piece];
    }
  }
  cutting->count = kept;
  return TENON_OK;
}

/* Strides and offset of the pieces from `first` on, which one source supplies. */
static tenon_status_t place_pieces(const tenon__extents_t* extents,
                                   const tenon__map_source_t* source, cutting_t* cutting,
                                   uint32_t first, const int64_t* source_strides) {
  for (uint32_t piece = first; piece < cutting->count; ++piece) {
    int64_t offset = 0;
    int64_t* strides = strides_of(cutting, piece);
    TENON_TRY(
        tenon__coordinates_view(extents, source, cutting->rank, source_strides, strides, &offset));
    for (uint32_t i = 0; i < cutting->rank; ++i) {
      if (!tenon__add_product(begin_of(cutting, piece)[i], strides[i], &offset)) {
        return TENON_ERROR_UNSUPPORTED;
      }
    }
    cutting->pieces[piece].offset = offset;
  }
  return TENON_OK;
}

static void finish_pieces(const tenon__index_map_t* map, cutting_t* cutting, uint64_t total,
                          tenon_move_t* out_move) {
  uint64_t covered = 0;
  for (uint32_t piece = 0; piece < cutting->count; ++piece) {
    uint64_t volume = 1;
    int64_t* begin = begin_of(cutting, piece);
    int64_t* end = end_of(cutting, piece);
    for (uint32_t i = 0; i < cutting->rank; ++i) {
      end[i] -= begin[i]; /* an extent from here on */
      volume *= (uint64_t)end[i];
    }
    covered += volume;
    cutting->pieces[piece].begin = begin;
    cutting->pieces[piece].extent = end;
    cutting->pieces[piece].strides = strides_of(cutting, piece);
  }
  *out_move =
      (tenon_move_t){.rank = map->rank,
                     .piece_count = cutting->count,
                     .fill_argument = map->fill == TENON_FILL_INPUT ? map->fill_input : TENON_NONE,
                     .covers_output = covered == total ? 1 : 0,
                     .pieces = cutting->pieces};
}

tenon_status_t tenon__index_map_pieces(const tenon__extents_t* extents,
                                       const tenon__index_map_t* map,
                                       const int64_t* const* source_strides,
                                       const tenon__piece_room_t* room, tenon_move_t* out_move) {
  int64_t dims[TENON_RANK_LIMIT] = {0};
  uint64_t total = 0;
  if (map->kind == TENON_MAP_LINEAR || map->rank > TENON_RANK_LIMIT ||
      !tenon__extents_shape(extents, map->rank, map->dims, dims) ||
      !tenon__element_count(map->rank, dims, &total)) {
    return TENON_ERROR_UNSUPPORTED;
  }
  cutting_t cutting = {.rank = map->rank,
                       .pieces = room->pieces,
                       .storage = room->numbers,
                       .capacity = room->capacity};
  for (uint32_t s = 0; s < map->source_count; ++s) {
    const tenon__map_source_t* source = &map->sources[s];
    box_t box = {{0}, {0}};
    const uint32_t first = cutting.count;
    if (source->rank > TENON_RANK_LIMIT) {
      return TENON_ERROR_UNSUPPORTED;
    }
    const tenon_status_t status = source_box(extents, map, source, dims, &box);
    if (status == TENON_ERROR_NOT_FOUND) {
      continue;
    }
    TENON_TRY(status);
    TENON_TRY(cut_source(&cutting, source->input, &box));
    TENON_TRY(place_pieces(extents, source, &cutting, first, source_strides[s]));
  }
  finish_pieces(map, &cutting, total, out_move);
  return TENON_OK;
}
