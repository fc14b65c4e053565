/* A walk over the wire format with a table of messages, in a recursion of bounded depth. It writes
 * the skeleton and cuts out tensors. */
#include "scanner.h"

#include <string.h>

#include "schema.h"

enum {
  LENGTH_SIZE =
      5,        /* a varint padded to this many bytes stands before each message of the skeleton */
  RAW_DATA = 9, /* TensorProto.raw_data */
  FIRST_CAPACITY = 64 * 1024,
  SKELETON_LIMIT = 1 << 30
};

typedef struct scanner_t {
  tenon_reader_t* reader;
  const uint8_t* begin; /* of the file */
  uint8_t* out;
  size_t size;
  size_t capacity;
  tenon__onnx_payload_t** payloads;
  uint32_t payload_count;
  uint32_t payload_capacity;
  uint32_t element_count;
} scanner_t;

static tenon_status_t broken(const scanner_t* scanner, const uint8_t* where, uint32_t message,
                             const char* reason) {
  return TENON_READER_FAIL(
      scanner->reader, TENON_ERROR_INVALID_DATA, "not a readable ONNX model: byte %zu, in %s: %s",
      (size_t)(where - scanner->begin), tenon__onnx_schema_name(message), reason);
}

static tenon_status_t reserve(scanner_t* scanner, size_t more) {
  if (more <= scanner->capacity - scanner->size) {
    return TENON_OK;
  }
  if (more > SKELETON_LIMIT || scanner->size + more > SKELETON_LIMIT) {
    return TENON_READER_FAIL(scanner->reader, TENON_ERROR_UNSUPPORTED,
                             "the graph, without its tensors, is larger than 1 GiB");
  }
  size_t capacity = scanner->capacity == 0 ? FIRST_CAPACITY : scanner->capacity * 2;
  while (capacity - scanner->size < more) {
    capacity *= 2;
  }
  uint8_t* larger = tenon_reader_allocate(scanner->reader, capacity, 1);
  if (larger == NULL) {
    return tenon_reader_fail_memory(scanner->reader);
  }
  if (scanner->size > 0) {
    memcpy(larger, scanner->out, scanner->size);
  }
  scanner->out = larger;
  scanner->capacity = capacity;
  return TENON_OK;
}

static tenon_status_t write_bytes(scanner_t* scanner, const void* data, size_t size) {
  TENON_READER_TRY(reserve(scanner, size));
  if (size > 0) {
    memcpy(scanner->out + scanner->size, data, size);
    scanner->size += size;
  }
  return TENON_OK;
}

/* The tag of a field with a length, then LENGTH_SIZE bytes that write_length fills in. */
static tenon_status_t write_tag(scanner_t* scanner, uint64_t number) {
  uint8_t bytes[2 + LENGTH_SIZE] = {0};
  const uint32_t tag = (uint32_t)number << 3 | TENON_READER_WIRE_LENGTH;
  size_t size = 0;
  if (tag >= 0x80u) {
    bytes[size++] = (uint8_t)(tag | 0x80u);
    bytes[size++] = (uint8_t)(tag >> 7);
  } else {
    bytes[size++] = (uint8_t)tag;
  }
  return write_bytes(scanner, bytes, size + LENGTH_SIZE);
}

static void write_length(scanner_t* scanner, size_t content) {
  size_t length = scanner->size - content;
  for (size_t i = 0; i < LENGTH_SIZE; ++i) {
    const uint32_t more = i + 1 < LENGTH_SIZE ? 0x80u : 0;
    scanner->out[content - LENGTH_SIZE + i] = (uint8_t)((length & 0x7Fu) | more);
    length >>= 7;
  }
}

static tenon_status_t count_element(scanner_t* scanner) {
  if (scanner->element_count >= TENON__ONNX_ELEMENT_LIMIT) {
    return TENON_READER_FAIL(scanner->reader, TENON_ERROR_UNSUPPORTED,
                             "the model has more than %d messages and strings",
                             TENON__ONNX_ELEMENT_LIMIT);
  }
  ++scanner->element_count;
  return TENON_OK;
}

static tenon_status_t write_string(scanner_t* scanner, const tenon_reader_record_t* record) {
  char text[TENON_READER_CHARACTER_SIZE];
  size_t taken = 0;
  TENON_READER_TRY(count_element(scanner));
  TENON_READER_TRY(write_tag(scanner, record->number));
  const size_t content = scanner->size;
  for (size_t i = 0; i < record->size; i += taken) {
    const size_t size = tenon_reader_character(record->data + i, record->size - i, text, &taken);
    TENON_READER_TRY(write_bytes(scanner, text, size));
  }
  write_length(scanner, content);
  return TENON_OK;
}

/* Unpacked elements that follow one another make one chunk. */
static tenon_status_t cut(scanner_t* scanner, tenon__onnx_payload_t* payload,
                          const tenon_reader_record_t* record, uint32_t element_wire) {
  const bool packed = record->number == RAW_DATA || element_wire != TENON_READER_WIRE_LENGTH;
  const bool alone = record->wire == element_wire && record->number != RAW_DATA;
  tenon__onnx_chunk_t* last = payload->last_chunk;
  const uint8_t* end = record->data + record->size;
  if (alone && last != NULL && !last->packed && last->field == record->number &&
      last->data + last->size == record->start) {
    last->size = (size_t)(end - last->data);
    return TENON_OK;
  }
  TENON_READER_TRY(count_element(scanner));
  tenon__onnx_chunk_t* chunk = tenon_reader_allocate(scanner->reader, 1, sizeof(*chunk));
  if (chunk == NULL) {
    return tenon_reader_fail_memory(scanner->reader);
  }
  chunk->field = (uint32_t)record->number;
  chunk->packed = packed && !alone;
  chunk->data = chunk->packed ? record->data : record->start;
  chunk->size = (size_t)(end - chunk->data);
  *(last == NULL ? &payload->chunks : &last->next) = chunk;
  payload->last_chunk = chunk;
  return TENON_OK;
}

/* Begins a TensorProto: writes the number of its payload. */
static tenon_status_t begin_tensor(scanner_t* scanner, tenon__onnx_payload_t** out_payload) {
  if (scanner->payload_count == scanner->payload_capacity) {
    const uint32_t capacity = scanner->payload_capacity == 0 ? 64 : scanner->payload_capacity * 2;
    tenon__onnx_payload_t** larger =
        tenon_reader_allocate(scanner->reader, capacity, sizeof(void*));
    if (larger == NULL) {
      return tenon_reader_fail_memory(scanner->reader);
    }
    if (scanner->payload_count > 0) {
      memcpy(larger, scanner->payloads, scanner->payload_count * sizeof(void*));
    }
    scanner->payloads = larger;
    scanner->payload_capacity = capacity;
  }
  tenon__onnx_payload_t* payload = tenon_reader_allocate(scanner->reader, 1, sizeof(*payload));
  if (payload == NULL) {
    return tenon_reader_fail_memory(scanner->reader);
  }
  const uint32_t number = scanner->payload_count++;
  scanner->payloads[number] = payload;
  const uint8_t bytes[4] = {(uint8_t)number, (uint8_t)(number >> 8), (uint8_t)(number >> 16),
                            (uint8_t)(number >> 24)};
  TENON_READER_TRY(write_tag(scanner, RAW_DATA));
  const size_t content = scanner->size;
  TENON_READER_TRY(write_bytes(scanner, bytes, sizeof(bytes)));
  write_length(scanner, content);
  *out_payload = payload;
  return TENON_OK;
}

static bool wire_fits(const tenon__onnx_field_t* field, const tenon_reader_record_t* record) {
  const bool many =
      field->action == TENON__ONNX_FIELD_NUMBERS || field->action == TENON__ONNX_FIELD_CUT;
  const bool number = field->action == TENON__ONNX_FIELD_NUMBER;
  return (record->wire == TENON_READER_WIRE_LENGTH && !number) ||
         ((many || number) && record->wire == field->wire);
}

/* Records of NUMBERS that follow one another become one packed record; *inout_run is where its
 * content begins, 0 when none is open. Alone they would cost the decoder twenty times their size.
 */
static tenon_status_t add_numbers(scanner_t* scanner, const tenon_reader_record_t* record,
                                  size_t* inout_run) {
  if (*inout_run == 0) {
    TENON_READER_TRY(count_element(scanner));
    TENON_READER_TRY(write_tag(scanner, record->number));
    *inout_run = scanner->size;
  }
  return write_bytes(scanner, record->data, record->size);
}

static void end_numbers(scanner_t* scanner, size_t* inout_run) {
  if (*inout_run != 0) {
    write_length(scanner, *inout_run);
    *inout_run = 0;
  }
}

static tenon_status_t scan_message(scanner_t* scanner, uint32_t message, const uint8_t* data,
                                   const uint8_t* end, uint32_t depth);

static tenon_status_t scan_field(scanner_t* scanner, const tenon__onnx_field_t* field,
                                 const tenon_reader_record_t* record,
                                 tenon__onnx_payload_t* payload, uint32_t depth) {
  switch (field->action) {
    case TENON__ONNX_FIELD_CUT:
      return cut(scanner, payload, record, field->wire);
    case TENON__ONNX_FIELD_SEGMENT:
      payload->has_segment = true;
      return TENON_OK;
    case TENON__ONNX_FIELD_STRING:
      return write_string(scanner, record);
    case TENON__ONNX_FIELD_NUMBER:
    case TENON__ONNX_FIELD_BYTES:
      TENON_READER_TRY(count_element(scanner));
      return write_bytes(scanner, record->start,
                         (size_t)(record->data + record->size - record->start));
    default:
      break;
  }
  TENON_READER_TRY(count_element(scanner));
  TENON_READER_TRY(write_tag(scanner, record->number));
  const size_t content = scanner->size;
  TENON_READER_TRY(
      scan_message(scanner, field->child, record->data, record->data + record->size, depth + 1));
  write_length(scanner, content);
  return TENON_OK;
}

static tenon_status_t scan_message(scanner_t* scanner, uint32_t message, const uint8_t* data,
                                   const uint8_t* end, uint32_t depth) {
  const tenon__onnx_field_t* field = NULL;
  uint64_t number = 0;
  uint32_t seen = 0;
  size_t run = 0;
  if (depth > TENON__ONNX_DEPTH_LIMIT) {
    return broken(scanner, data, message, "messages are nested more than 100 deep");
  }
  tenon__onnx_payload_t none = {0}; /* only TensorProto has one */
  tenon__onnx_payload_t* payload = &none;
  if (message == TENON__ONNX_MESSAGE_TENSOR) {
    TENON_READER_TRY(begin_tensor(scanner, &payload));
  }
  while (data < end) {
    const uint8_t* where = data;
    tenon_reader_record_t record;
    if (!tenon_reader_read_record(&data, end, &record)) {
      return broken(scanner, where, message, "a field is cut off or malformed");
    }
    if (record.number != number) {
      end_numbers(scanner, &run);
      number = record.number;
      field = tenon__onnx_schema_field(message, number);
    }
    if (field == NULL) {
      continue;
    }
    if (!wire_fits(field, &record)) {
      return broken(scanner, where, message, "a field has the wrong wire type");
    }
    if (field->action == TENON__ONNX_FIELD_SINGLE) {
      const uint32_t bit = 1u << field->once;
      if ((seen & bit) != 0) {
        return broken(scanner, where, message, "a field that may stand once stands twice");
      }
      seen |= bit;
    }
    if (field->action == TENON__ONNX_FIELD_NUMBERS) {
      TENON_READER_TRY(add_numbers(scanner, &record, &run));
    } else {
      TENON_READER_TRY(scan_field(scanner, field, &record, payload, depth));
    }
  }
  end_numbers(scanner, &run);
  return TENON_OK;
}

tenon_status_t tenon__onnx_scan(tenon_reader_t* reader, const void* data, size_t size_bytes,
                                tenon__onnx_scan_t* out_scan) {
  scanner_t scanner = {.reader = reader, .begin = data};
  TENON_READER_TRY(reserve(&scanner, 1));
  const uint8_t* begin = size_bytes == 0 ? scanner.out : data;
  TENON_READER_TRY(scan_message(&scanner, TENON__ONNX_MESSAGE_MODEL, begin, begin + size_bytes, 1));
  out_scan->skeleton = scanner.out;
  out_scan->skeleton_size = scanner.size;
  out_scan->payloads = scanner.payloads;
  out_scan->payload_count = scanner.payload_count;
  return TENON_OK;
}

/* ModelProto's fields have kinds of their own: a version (1, varint), three texts (2 to 4), a
 * version (5), a text, the graph (7), operator sets (8). What is cut off by the end of `data` ends
 * the look. */
int32_t tenon__onnx_sniff(const void* data, size_t size_bytes) {
  const uint8_t* position = data;
  const uint8_t* end = size_bytes == 0 ? position : position + size_bytes;
  int32_t certainty = 0;
  while (position < end) {
    uint64_t tag = 0;
    uint64_t value = 0;
    if (!tenon_reader_read_varint(&position, end, &tag) ||
        !tenon_reader_read_varint(&position, end, &value)) {
      break;
    }
    const uint64_t number = tag >> 3;
    const uint32_t wire = (uint32_t)tag & 7u;
    const bool is_number = number == 1 || number == 5;
    const bool known = (number >= 1 && number <= 8) || number == 14 || number == 20 ||
                       number == 25 || number == 26;
    if (!known || wire != (is_number ? TENON_READER_WIRE_VARINT : TENON_READER_WIRE_LENGTH) ||
        (number == 1 && value > 1000)) {
      return 0;
    }
    certainty += number == 1 || number == 7 || number == 8 ? 40 : 10;
    if (wire == TENON_READER_WIRE_LENGTH) {
      if (value > (uint64_t)(end - position)) {
        break;
      }
      position += value;
    }
  }
  return certainty > 95 ? 95 : certainty;
}
