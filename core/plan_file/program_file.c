/* Programs as bytes, and back. The reader bounds each count by the remaining bytes. */
#include "core/plan_file/program_file.h"

#include "core/base/bytes.h"
#include "core/base/status.h"
#include "core/dimension/dimension_pool.h"
#include "core/program/program.h"
#include "core/program/program_check.h"

static void write_access(const tenon__expression_t* e, uint32_t k,
                         struct tenon__byte_writer_t* writer) {
  const tenon__access_t* access = &e->accesses[k];
  const bool indexed = e->program.operands[k].indexed != 0;
  const uint32_t count = indexed ? 0 : access->rank;
  tenon__write_u32(writer, indexed ? TENON_NONE : access->rank);
  for (uint32_t d = 0; d < count; ++d) {
    tenon__write_u32(writer, access->coordinates[d].id);
  }
}

void tenon__expression_write(const tenon__expression_t* e, struct tenon__byte_writer_t* writer) {
  const tenon_program_t* p = &e->program;
  tenon__write_u32(writer, p->rank);
  for (uint32_t k = 0; k < p->rank; ++k) {
    tenon__write_u32(writer, e->space[k].id);
  }
  tenon__write_u32(writer, p->operand_count);
  for (uint32_t k = 0; k < p->operand_count; ++k) {
    tenon__write_u32(writer, p->operands[k].kind);
    tenon__write_u32(writer, p->operands[k].index);
    tenon__write_u32(writer, p->operands[k].dtype);
    tenon__write_u32(writer, p->operands[k].indexed);
    tenon__write_u64(writer, p->operands[k].broadcast_axes);
    write_access(e, k, writer);
  }
  tenon__write_u32(writer, p->coordinate_count);
  for (uint32_t k = 0; k < p->coordinate_count; ++k) {
    tenon__write_u32(writer, p->coordinates[k]);
  }
  tenon__write_u32(writer, p->instruction_count);
  for (uint32_t k = 0; k < p->instruction_count; ++k) {
    const tenon_instruction_t* i = &p->instructions[k];
    tenon__write_u32(writer, i->opcode | ((uint32_t)i->dtype << 16));
    for (uint32_t o = 0; o < 3; ++o) {
      tenon__write_u32(writer, i->operands[o]);
    }
    tenon__write_i64(writer, i->immediate.i);
  }
  tenon__write_u32(writer, p->output_count);
  for (uint32_t k = 0; k < p->output_count; ++k) {
    tenon__write_u32(writer, p->outputs[k].instruction);
    tenon__write_u32(writer, p->outputs[k].dtype | p->outputs[k].reserved << 16);
    tenon__write_u32(writer, p->outputs[k].index);
    tenon__write_u64(writer, p->outputs[k].reduced_axes);
    tenon__write_u32(writer, e->output_ranks[k]);
    for (uint32_t a = 0; a < e->output_ranks[k]; ++a) {
      tenon__write_u32(writer, e->output_axes[k][a]);
    }
  }
}

typedef struct reading_t {
  struct tenon__byte_reader_t* reader;
  const tenon__dim_pool_t* pool;
  tenon__arena_t* arena;
  bool no_memory;
} reading_t;

static void* reserve(reading_t* r, uint32_t count, size_t size) {
  void* memory = tenon__arena_allocate(r->arena, count + 1u, size);
  r->no_memory = r->no_memory || memory == NULL;
  return memory;
}

static const tenon_dim_t* read_dims(reading_t* r, uint32_t count) {
  tenon_dim_t* dims = reserve(r, count, sizeof *dims);
  if (dims == NULL) {
    return NULL;
  }
  for (uint32_t k = 0; k < count; ++k) {
    dims[k].id = tenon__read_u32(r->reader);
    if (dims[k].id >= tenon__dim_pool_count(r->pool)) {
      r->reader->failed = true;
      dims[k].id = 0;
    }
  }
  return dims;
}

static void read_operands(reading_t* r, tenon__expression_t* e) {
  tenon_program_t* p = &e->program;
  p->operand_count = tenon__read_count(r->reader, 28);
  tenon_operand_t* operands = reserve(r, p->operand_count, sizeof *operands);
  tenon__access_t* accesses = reserve(r, p->operand_count, sizeof *accesses);
  if (r->no_memory) {
    return;
  }
  for (uint32_t k = 0; k < p->operand_count; ++k) {
    operands[k].kind = tenon__read_u32(r->reader);
    operands[k].index = tenon__read_u32(r->reader);
    operands[k].dtype = tenon__read_u32(r->reader);
    operands[k].indexed = tenon__read_u32(r->reader);
    operands[k].broadcast_axes = tenon__read_u64(r->reader);
    accesses[k].rank = tenon__read_u32(r->reader);
    if (accesses[k].rank == TENON_NONE) {
      r->reader->failed = r->reader->failed || operands[k].indexed == 0;
    } else if (accesses[k].rank > TENON_RANK_LIMIT || operands[k].indexed != 0) {
      r->reader->failed = true;
      return;
    } else {
      accesses[k].coordinates = read_dims(r, accesses[k].rank);
    }
  }
  p->operands = operands;
  e->accesses = accesses;
}

static void read_instructions(reading_t* r, tenon__expression_t* e) {
  tenon_program_t* p = &e->program;
  p->coordinate_count = tenon__read_count(r->reader, 4);
  uint32_t* coordinates = reserve(r, p->coordinate_count, sizeof *coordinates);
  if (r->no_memory) {
    return;
  }
  for (uint32_t k = 0; k < p->coordinate_count; ++k) {
    coordinates[k] = tenon__read_u32(r->reader);
  }
  p->coordinates = coordinates;
  p->instruction_count = tenon__read_count(r->reader, 24);
  tenon_instruction_t* instructions = reserve(r, p->instruction_count, sizeof *instructions);
  if (r->no_memory) {
    return;
  }
  for (uint32_t k = 0; k < p->instruction_count; ++k) {
    const uint32_t head = tenon__read_u32(r->reader);
    instructions[k].opcode = (uint16_t)head;
    instructions[k].dtype = (uint16_t)(head >> 16);
    for (uint32_t o = 0; o < 3; ++o) {
      instructions[k].operands[o] = tenon__read_u32(r->reader);
    }
    instructions[k].immediate.i = tenon__read_i64(r->reader);
  }
  p->instructions = instructions;
}

static void read_outputs(reading_t* r, tenon__expression_t* e) {
  tenon_program_t* p = &e->program;
  p->output_count = tenon__read_count(r->reader, 24);
  tenon_program_output_t* outputs = reserve(r, p->output_count, sizeof *outputs);
  const uint32_t** axes = reserve(r, p->output_count, sizeof *axes);
  uint32_t* ranks = reserve(r, p->output_count, sizeof *ranks);
  if (r->no_memory) {
    return;
  }
  for (uint32_t k = 0; k < p->output_count; ++k) {
    outputs[k].instruction = tenon__read_u32(r->reader);
    const uint32_t type = tenon__read_u32(r->reader); /* and above it whether it rounds */
    outputs[k].dtype = type & 0xffffu;
    outputs[k].reserved = type >> 16;
    outputs[k].index = tenon__read_u32(r->reader);
    outputs[k].reduced_axes = tenon__read_u64(r->reader);
    ranks[k] = tenon__read_u32(r->reader);
    if (ranks[k] > p->rank) {
      r->reader->failed = true;
      return;
    }
    uint32_t* own = reserve(r, ranks[k], sizeof *own);
    if (own == NULL) {
      return;
    }
    for (uint32_t a = 0; a < ranks[k]; ++a) {
      own[a] = tenon__read_u32(r->reader);
      if (own[a] >= p->rank) {
        r->reader->failed = true;
        own[a] = 0;
      }
    }
    axes[k] = own;
  }
  p->outputs = outputs;
  e->output_axes = axes;
  e->output_ranks = ranks;
}

tenon_status_t tenon__expression_read(struct tenon__byte_reader_t* reader,
                                      const tenon__dim_pool_t* pool, tenon__arena_t* arena,
                                      const tenon_sink_t* sink,
                                      tenon__expression_t* out_expression) {
  reading_t r = {.reader = reader, .pool = pool, .arena = arena};
  tenon__expression_t e = {0};
  e.program.rank = tenon__read_u32(reader);
  if (reader->failed || e.program.rank > TENON_RANK_LIMIT) {
    return tenon__fail(sink, TENON_ERROR_INVALID_DATA, "an expression has rank %u", e.program.rank);
  }
  e.space = read_dims(&r, e.program.rank);
  read_operands(&r, &e);
  if (!r.no_memory && !reader->failed) {
    read_instructions(&r, &e);
  }
  if (!r.no_memory && !reader->failed) {
    read_outputs(&r, &e);
  }
  TENON_TRY_MEMORY(!r.no_memory);
  if (reader->failed) {
    return tenon__fail(sink, TENON_ERROR_INVALID_DATA, "an expression is cut off or damaged");
  }
  TENON_TRY(tenon__program_check(&e.program, sink));
  TENON_TRY(tenon__expression_check_outputs(pool, &e, arena, sink));
  *out_expression = e;
  return TENON_OK;
}
