/* Deep copies of expressions and index maps. `copy` notes a failure instead of returning it. */
#include "core/network/deep_copy.h"
#include "core/base/status.h"

typedef struct copier_t {
  tenon__arena_t* arena;
  bool failed;
} copier_t;

static const void* copy(copier_t* copier, const void* data, size_t count, size_t size_bytes) {
  if (data == NULL || count == 0) {
    return NULL;
  }
  const void* copied = tenon__arena_copy(copier->arena, data, count * size_bytes);
  copier->failed = copier->failed || copied == NULL;
  return copied;
}

static const tenon__access_t* copy_accesses(copier_t* copier,
                                            const tenon__expression_t* expression) {
  const uint32_t count = expression->program.operand_count;
  tenon__access_t* accesses = tenon__arena_allocate(copier->arena, count + 1u, sizeof(*accesses));
  if (accesses == NULL) {
    copier->failed = true;
    return NULL;
  }
  for (uint32_t i = 0; i < count; ++i) {
    accesses[i] = expression->accesses[i];
    if (accesses[i].rank != TENON_NONE) {
      accesses[i].coordinates =
          copy(copier, accesses[i].coordinates, accesses[i].rank, sizeof(tenon_dim_t));
    }
  }
  return accesses;
}

static const uint32_t* const* copy_output_axes(copier_t* copier,
                                               const tenon__expression_t* expression) {
  const uint32_t count = expression->program.output_count;
  const uint32_t** axes = tenon__arena_allocate(copier->arena, count + 1u, sizeof(*axes));
  if (axes == NULL) {
    copier->failed = true;
    return NULL;
  }
  for (uint32_t i = 0; i < count; ++i) {
    axes[i] =
        copy(copier, expression->output_axes[i], expression->output_ranks[i], sizeof(uint32_t));
  }
  return axes;
}

tenon_status_t tenon__expression_copy(tenon__arena_t* arena, const tenon__expression_t* expression,
                                      tenon__expression_t* out_expression) {
  copier_t copier = {arena, false};
  const tenon_program_t* program = &expression->program;
  tenon__expression_t result = *expression;
  result.program.instructions = copy(&copier, program->instructions, program->instruction_count,
                                     sizeof(*program->instructions));
  result.program.operands =
      copy(&copier, program->operands, program->operand_count, sizeof(*program->operands));
  result.program.outputs =
      copy(&copier, program->outputs, program->output_count, sizeof(*program->outputs));
  result.program.coordinates =
      copy(&copier, program->coordinates, program->coordinate_count, sizeof(uint32_t));
  result.space = copy(&copier, expression->space, program->rank, sizeof(tenon_dim_t));
  result.output_ranks =
      copy(&copier, expression->output_ranks, program->output_count, sizeof(uint32_t));
  result.accesses = copy_accesses(&copier, expression);
  result.output_axes = copy_output_axes(&copier, expression);
  TENON_TRY_MEMORY(!copier.failed);
  *out_expression = result;
  return TENON_OK;
}

tenon_status_t tenon__index_map_copy(tenon__arena_t* arena, const tenon__index_map_t* map,
                                     tenon__index_map_t* out_map) {
  copier_t copier = {arena, false};
  tenon__index_map_t result = *map;
  result.dims = copy(&copier, map->dims, map->rank, sizeof(tenon_dim_t));
  tenon__map_source_t* sources =
      tenon__arena_allocate(arena, map->source_count + 1u, sizeof(*sources));
  TENON_TRY_MEMORY(sources != NULL);
  for (uint32_t i = 0; i < map->source_count; ++i) {
    sources[i] = map->sources[i];
    sources[i].dims = copy(&copier, map->sources[i].dims, sources[i].rank, sizeof(tenon_dim_t));
    sources[i].coordinates =
        copy(&copier, map->sources[i].coordinates, sources[i].rank, sizeof(tenon_dim_t));
  }
  result.sources = sources;
  TENON_TRY_MEMORY(!copier.failed && sources != NULL);
  *out_map = result;
  return TENON_OK;
}
