/* Changes to a plan: read, written, made up, and carried out. */
#include "tests/engine/plan_edits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/dimension/dimension_algebra.h"
#include "core/dimension/dimension_pool.h"
#include "core/plan_file/plan_file.h"
#include "tests/engine/plan_things.h"

static const char* const section_names[] = {
#define SECTION_NAME(name, number, contents) #name,
    TENON_PLAN_SECTIONS(SECTION_NAME)
#undef SECTION_NAME
};
enum { SECTION_COUNT = sizeof section_names / sizeof section_names[0] };

/* How an extent becomes another: that number, or an operation on what it is. */
static const struct {
  const char* name;
  uint32_t opcode; /* 0: the number */
} ways[] = {{"is", 0},
            {"max", TENON_OPCODE_MAX},
            {"min", TENON_OPCODE_MIN},
            {"add", TENON_OPCODE_ADD},
            {"multiply", TENON_OPCODE_MUL}};
enum { WAY_COUNT = sizeof ways / sizeof ways[0] };

/* ---- Reading ---- */

static uint64_t number_of(const char* text) {
  return text[0] == '-' ? (uint64_t)strtoll(text, NULL, 0) : strtoull(text, NULL, 0);
}

static void read_id(const char* text, edit_id_t* out_id) {
  const bool is_number = (text[0] >= '0' && text[0] <= '9') || text[0] == '-';
  *out_id = (edit_id_t){.number = is_number ? number_of(text) : 0};
  if (!is_number) {
    (void)snprintf(out_id->name, sizeof out_id->name, "%s", text);
  }
}

static uint32_t find_thing(const char* name) {
  uint32_t thing = 0;
  while (thing < edit_thing_count && strcmp(edit_things[thing].name, name) != 0) {
    ++thing;
  }
  return thing;
}

/* set THING ids... FIELD [index] = value */
static bool read_set(char* const* tokens, uint32_t count, edit_t* edit) {
  edit->thing = count > 1 ? find_thing(tokens[1]) : edit_thing_count;
  if (edit->thing == edit_thing_count) {
    return false;
  }
  const edit_thing_t* thing = &edit_things[edit->thing];
  const uint32_t at = 2 + thing->id_count;
  if (count < at + 3) {
    return false;
  }
  for (uint32_t k = 0; k < thing->id_count; ++k) {
    read_id(tokens[2 + k], &edit->ids[k]);
  }
  while (edit->field < thing->field_count &&
         strcmp(thing->fields[edit->field].name, tokens[at]) != 0) {
    ++edit->field;
  }
  edit->index = count > at + 3 ? number_of(tokens[at + 1]) : 0;
  edit->value = number_of(tokens[count - 1]);
  return edit->field < thing->field_count;
}

/* extent GRAPH value NAME axis HOW number */
static bool read_extent(char* const* tokens, uint32_t count, edit_t* edit) {
  if (count != 6) {
    return false;
  }
  edit->thing = tokens[0][0] == 'e' ? 0 : 1;
  read_id(tokens[1], &edit->ids[0]);
  read_id(tokens[2], &edit->ids[1]);
  edit->index = number_of(tokens[3]);
  while (edit->field < WAY_COUNT && strcmp(ways[edit->field].name, tokens[4]) != 0) {
    ++edit->field;
  }
  edit->value = number_of(tokens[5]);
  return edit->field < WAY_COUNT;
}

/* bytes SECTION offset size = value */
static bool read_bytes(char* const* tokens, uint32_t count, edit_t* edit) {
  if (count != 6) {
    return false;
  }
  while (edit->thing < SECTION_COUNT && strcmp(section_names[edit->thing], tokens[1]) != 0) {
    ++edit->thing;
  }
  edit->index = number_of(tokens[2]);
  edit->field = (uint32_t)number_of(tokens[3]);
  edit->value = number_of(tokens[5]);
  return edit->thing < SECTION_COUNT && edit->field >= 1 && edit->field <= 8;
}

static bool read_edit(char* line, edit_t* out_edit) {
  char* tokens[12] = {"", "", "", "", "", "", "", "", "", "", "", ""};
  uint32_t count = 0;
  char* rest = NULL;
  for (char* word = strtok_r(line, " \t\r", &rest); word != NULL && count < 12;
       word = strtok_r(NULL, " \t\r", &rest)) {
    tokens[count++] = word;
  }
  *out_edit = (edit_t){0};
  if (count == 0) {
    return false;
  }
  if (strcmp(tokens[0], "set") == 0) {
    out_edit->kind = EDIT_SET;
    return read_set(tokens, count, out_edit);
  }
  if (strcmp(tokens[0], "extent") == 0 || strcmp(tokens[0], "content") == 0) {
    out_edit->kind = EDIT_EXTENT;
    return read_extent(tokens, count, out_edit);
  }
  if (strcmp(tokens[0], "bytes") == 0) {
    out_edit->kind = EDIT_BYTES;
    return read_bytes(tokens, count, out_edit);
  }
  if (strcmp(tokens[0], "data") == 0 && count == 4) {
    out_edit->kind = EDIT_DATA;
    out_edit->index = number_of(tokens[1]);
    out_edit->value = number_of(tokens[3]);
    return true;
  }
  out_edit->kind = EDIT_REFIT;
  return strcmp(tokens[0], "refit") == 0;
}

void edits_parse(const uint8_t* text, size_t size, edits_t* out_edits) {
  char copy[EDIT_MOST_TEXT];
  char* rest = NULL;
  const size_t kept = size < sizeof copy - 1 ? size : sizeof copy - 1;
  memcpy(copy, text, kept);
  for (size_t k = 0; k < kept; ++k) {
    if (copy[k] == '\0') {
      copy[k] = ' ';
    }
  }
  copy[kept] = '\0';
  memset(out_edits, 0, sizeof *out_edits);
  char* line = strtok_r(copy, "\n", &rest);
  (void)snprintf(out_edits->network, sizeof out_edits->network, "%s", line == NULL ? "" : line);
  while (line != NULL && out_edits->count < EDIT_MOST) {
    line = strtok_r(NULL, "\n", &rest);
    out_edits->count +=
        line != NULL && read_edit(line, &out_edits->items[out_edits->count]) ? 1u : 0u;
  }
}

/* ---- Writing ---- */

static int print_id(const edit_id_t* id, char* out, size_t capacity) {
  return id->name[0] != '\0' ? snprintf(out, capacity, " %s", id->name)
                             : snprintf(out, capacity, " %llu", (unsigned long long)id->number);
}

static size_t print_edit(const edit_t* edit, char* out, size_t capacity) {
  const unsigned long long index = edit->index;
  const unsigned long long value = edit->value;
  size_t size = 0;
  int more = 0;
  switch (edit->kind) {
    case EDIT_SET:
      size = (size_t)snprintf(out, capacity, "set %s", edit_things[edit->thing].name);
      for (uint32_t k = 0; k < edit_things[edit->thing].id_count; ++k) {
        size += (size_t)print_id(&edit->ids[k], out + size, capacity - size);
      }
      more = snprintf(out + size, capacity - size, " %s %llu = %#llx\n",
                      edit_things[edit->thing].fields[edit->field].name, index, value);
      break;
    case EDIT_EXTENT:
      size = (size_t)snprintf(out, capacity, edit->thing == 0 ? "extent" : "content");
      size += (size_t)print_id(&edit->ids[0], out + size, capacity - size);
      size += (size_t)print_id(&edit->ids[1], out + size, capacity - size);
      more = snprintf(out + size, capacity - size, " %llu %s %lld\n", index, ways[edit->field].name,
                      (long long)value);
      break;
    case EDIT_BYTES:
      more = snprintf(out, capacity, "bytes %s %llu %u = %#llx\n", section_names[edit->thing],
                      index, edit->field, value);
      break;
    case EDIT_DATA:
      more = snprintf(out, capacity, "data %llu = %llu\n", index, value);
      break;
    case EDIT_REFIT:
    default:
      more = snprintf(out, capacity, "refit\n");
      break;
  }
  return size + (size_t)more;
}

size_t edits_print(const edits_t* edits, char* out_text, size_t capacity) {
  size_t size = (size_t)snprintf(out_text, capacity, "%s\n", edits->network);
  for (uint32_t k = 0; k < edits->count; ++k) {
    char line[256];
    const size_t length = print_edit(&edits->items[k], line, sizeof line);
    if (length < sizeof line && size + length < capacity) {
      memcpy(out_text + size, line, length);
      size += length;
    }
  }
  return size;
}

/* ---- Making up ---- */

static uint64_t next(uint64_t* random) {
  *random += UINT64_C(0x9e3779b97f4a7c15);
  uint64_t mixed = *random;
  mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
  return mixed ^ (mixed >> 31);
}

/* Small numbers, which are places, values and nodes; and those at which arithmetic turns over. */
static uint64_t likely_number(uint64_t* random) {
  const uint64_t choice = next(random);
  const uint64_t power = UINT64_C(1) << (choice >> 8) % 64;
  switch (choice % 8) {
    case 0:
      return power;
    case 1:
      return power - 1;
    case 2:
      return 0 - power;
    case 3:
      return choice >> 16;
    case 4:
      return (choice >> 16) % 256;
    default:
      return (choice >> 16) % 12;
  }
}

static void make_up(edit_t* edit, uint64_t* random) {
  const uint64_t choice = next(random) % 16;
  *edit = (edit_t){.value = likely_number(random)};
  if (choice < 7) {
    edit->kind = EDIT_SET;
    edit->thing = (uint32_t)(next(random) % edit_thing_count);
    edit->field = (uint32_t)(next(random) % edit_things[edit->thing].field_count);
    edit->index = next(random) % 6;
    for (uint32_t k = 0; k < 3; ++k) {
      edit->ids[k].number = next(random) % (k == 0 ? 3 : 24);
    }
  } else if (choice < 10) {
    edit->kind = EDIT_EXTENT;
    edit->thing = next(random) % 4 == 0 ? 1 : 0;
    edit->field = (uint32_t)(next(random) % WAY_COUNT);
    edit->ids[0].number = next(random) % 3;
    edit->ids[1].number = next(random) % 24;
    edit->index = next(random) % 4;
  } else if (choice < 15) {
    static const uint32_t sizes[] = {1, 1, 1, 4, 4, 8};
    edit->kind = EDIT_BYTES;
    edit->thing = (uint32_t)(next(random) % SECTION_COUNT);
    edit->field = sizes[next(random) % 6];
    edit->index = next(random) % 8192;
  } else {
    edit->kind = next(random) % 8 == 0 ? EDIT_REFIT : EDIT_DATA;
    edit->index = next(random) % 4096;
  }
}

void edits_mutate(edits_t* edits, uint64_t* random, const char* const* networks, uint32_t count) {
  const uint64_t choice = next(random) % 16;
  bool is_known = false;
  for (uint32_t k = 0; k < count; ++k) {
    is_known = is_known || strcmp(networks[k], edits->network) == 0;
  }
  if (count > 0 && (!is_known || choice == 0)) {
    (void)snprintf(edits->network, sizeof edits->network, "%s", networks[next(random) % count]);
  }
  if (edits->count == 0 || (choice < 8 && edits->count < EDIT_MOST)) {
    make_up(&edits->items[edits->count++], random);
    return;
  }
  edit_t* edit = &edits->items[next(random) % edits->count];
  if (choice < 10) {
    *edit = edits->items[--edits->count];
  } else if (choice < 13) {
    edit->value = next(random) % 3 == 0 ? edit->value ^ (UINT64_C(1) << next(random) % 64)
                                        : likely_number(random);
  } else if (choice < 15) {
    edit->index = next(random) % 4 == 0 ? next(random) % 8192 : edit->index + next(random) % 9 - 4;
  } else {
    edit->ids[next(random) % 3].number += next(random) % 5;
  }
}

/* ---- Carrying out ---- */

static void store(uint8_t* place, uint64_t number, size_t size_bytes) {
  for (size_t k = 0; k < size_bytes; ++k) {
    place[k] = (uint8_t)(number >> (8 * k));
  }
}

static uint64_t load(const uint8_t* place, size_t size_bytes) {
  uint64_t number = 0;
  for (size_t k = 0; k < size_bytes; ++k) {
    number |= (uint64_t)place[k] << (8 * k);
  }
  return number;
}

/* A list may be the operator's, or another's too: then it is copied first. */
static void set_item(tenon__plan_t* plan, uint8_t* at, const edit_field_t* field,
                     const edit_t* edit) {
  void* list = NULL;
  memcpy(&list, at + field->offset, sizeof list);
  const uint64_t count = load(at + field->count_offset, field->count_size);
  uint8_t* own = list == NULL || count == 0 || count > UINT16_MAX ? NULL
                 : field->is_own                                  ? list
                                 : tenon__arena_copy(&plan->arena, list, count * field->size);
  if (own != NULL) {
    store(own + edit->index % count * field->size, edit->value, field->size);
    memcpy(at + field->offset, &own, sizeof own);
  }
}

static void set_field(tenon__plan_t* plan, const edit_t* edit) {
  const edit_thing_t* thing = &edit_things[edit->thing];
  const edit_field_t* field = &thing->fields[edit->field];
  uint8_t* at = thing->find(plan, edit->ids);
  if (at == NULL) {
    return;
  }
  if (field->count_size > 0) {
    set_item(plan, at, field, edit);
  } else {
    /* One byte is true or false. */
    store(at + field->offset, field->size == 1 ? edit->value & 1 : edit->value, field->size);
  }
}

static void set_extent(tenon__plan_t* plan, const edit_t* edit) {
  tenon__dim_pool_t* pool = plan->network->pool;
  tenon__value_node_t* value = edit_find_value(plan, edit->ids);
  if (value == NULL) {
    return;
  }
  const tenon_dim_t* list = edit->thing == 0 ? value->type.dims : value->type.contents;
  const uint32_t count = edit->thing == 0 ? value->type.rank : value->type.content_count;
  tenon_dim_t* own = list == NULL || count == 0 || count == TENON_NONE
                         ? NULL
                         : tenon__arena_copy(&plan->network->arena, list, count * sizeof *list);
  if (own == NULL) {
    return;
  }
  tenon_dim_t* dim = &own[edit->index % count];
  const tenon_dim_t number = tenon__dim_constant(pool, (int64_t)edit->value);
  const tenon_dim_t made = ways[edit->field].opcode == 0
                               ? number
                               : tenon__dim_combine(pool, ways[edit->field].opcode, *dim, number);
  *dim = made.id == TENON_NONE ? *dim : made;
  if (edit->thing == 0) {
    value->type.dims = own;
  } else {
    value->type.contents = own;
  }
}

/* The writer takes as many numbers of a place's order as its value has dimensions: there are enough
 * for any value that an edit may name. */
static void lengthen_orders(tenon__plan_t* plan) {
  for (uint32_t g = 0; g < plan->network->graph_count; ++g) {
    const tenon__graph_t* graph = plan->network->graphs[g];
    for (uint32_t k = 0; k < plan->schedules[g].place_count; ++k) {
      tenon__place_t* place = &plan->schedules[g].places[k];
      uint32_t* longer = place->order == NULL ? NULL
                                              : tenon__arena_allocate(
                                                    &plan->arena, TENON_RANK_LIMIT, sizeof *longer);
      if (longer != NULL) {
        memcpy(longer, place->order, graph->values[place->value].type.rank * sizeof *longer);
      }
      place->order = longer;
    }
  }
}

/* Nor does it ask whether there is such a value. */
static void drop_orders_of_none(tenon__plan_t* plan) {
  for (uint32_t g = 0; g < plan->network->graph_count; ++g) {
    for (uint32_t k = 0; k < plan->schedules[g].place_count; ++k) {
      tenon__place_t* place = &plan->schedules[g].places[k];
      const bool is_there =
          place->value < plan->network->graphs[g]->value_count &&
          plan->network->graphs[g]->values[place->value].type.rank <= TENON_RANK_LIMIT;
      place->order = is_there ? place->order : NULL;
    }
  }
}

void edits_apply(const edits_t* edits, tenon__plan_t* plan) {
  lengthen_orders(plan);
  for (uint32_t k = 0; k < edits->count; ++k) {
    if (edits->items[k].kind == EDIT_SET) {
      set_field(plan, &edits->items[k]);
    } else if (edits->items[k].kind == EDIT_EXTENT) {
      set_extent(plan, &edits->items[k]);
    }
  }
  drop_orders_of_none(plan);
}

/* ---- The file ---- */

static void set_bytes(const edit_t* edit, uint8_t* structure, size_t size) {
  size_t at = 0;
  for (uint32_t section = 0; size - at >= TENON_PLAN_SECTION_HEAD_SIZE; ++section) {
    const uint64_t length = load(structure + at + 4, 8);
    at += TENON_PLAN_SECTION_HEAD_SIZE;
    if (length > size - at) {
      return; /* an earlier edit's doing */
    }
    if (section == edit->thing && length > 0) {
      const uint64_t offset = edit->index % length;
      const uint64_t room = length - offset;
      store(structure + at + offset, edit->value, edit->field < room ? edit->field : room);
      return;
    }
    at += length;
  }
}

void edits_apply_to_file(const edits_t* edits, uint8_t* file, size_t size) {
  const uint64_t structure_size = load(file + 24, 8);
  const uint64_t data_offset = load(file + 32, 8);
  for (uint32_t k = 0; k < edits->count; ++k) {
    const edit_t* edit = &edits->items[k];
    if (edit->kind == EDIT_BYTES) {
      set_bytes(edit, file + TENON_PLAN_HEADER_SIZE, structure_size);
    } else if (edit->kind == EDIT_DATA && size > data_offset) {
      file[data_offset + edit->index % (size - data_offset)] = (uint8_t)edit->value;
    }
  }
  const tenon__digest_t digest = tenon__plan_file_digest(file, structure_size);
  memcpy(file + TENON_PLAN_DIGEST_OFFSET, &digest, sizeof digest);
}

bool edits_refit(const edits_t* edits) {
  bool refits = false;
  for (uint32_t k = 0; k < edits->count; ++k) {
    refits = refits || edits->items[k].kind == EDIT_REFIT;
  }
  return refits;
}
