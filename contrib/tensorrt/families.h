/*
 * The families of converters. Each family is one table of rows in the file of its name. A row gives
 * the name of a plugin, the function that builds its nodes, the versions that the function builds,
 * and the reason why it builds no others.
 */
#ifndef TENSORRT_FAMILIES_H_
#define TENSORRT_FAMILIES_H_

#include "tenon/maker.h"

/* X(name): the file NAME.c, whose offering is tensorrt_NAME_family. */
#define TENSORRT_FAMILIES(X) \
  X(anchors)                 \
  X(bert)                    \
  X(deformable)              \
  X(layers)                  \
  X(mask_rcnn)               \
  X(movement)                \
  X(nms)                     \
  X(points)                  \
  X(proposals)               \
  X(regions)

/* Nodes have these domains: none, TRT (exporters of YOLO), trt.plugins (ONNX Runtime). The standard
 * has operators of its own in the domain "": TENSORRT_APART leaves these names to it. */
#define TENSORRT_DOMAIN(domain, type, function, versions, reason) \
  TENON_MAKE_ROW(convert, "onnx", domain, type, 1, 0, function, versions, reason)
#define TENSORRT_APART(type, function, versions, reason)    \
  TENSORRT_DOMAIN("TRT", type, function, versions, reason), \
      TENSORRT_DOMAIN("trt.plugins", type, function, versions, reason)
#define TENSORRT_ROW(type, function, versions, reason)   \
  TENSORRT_DOMAIN("", type, function, versions, reason), \
      TENSORRT_APART(type, function, versions, reason)

#define TENSORRT_FAMILY_DECLARATION(name) extern const tenon_offering_t tensorrt_##name##_family;
TENSORRT_FAMILIES(TENSORRT_FAMILY_DECLARATION)
#undef TENSORRT_FAMILY_DECLARATION

/* Builds the node if its plugin_version is one of the row's. */
tenon_status_t tensorrt_run(const tenon_make_row_t* row, const tenon_conversion_t* call);

/* Ends the file of a family. It offers the array `rows`. The file declares `convert` before it. */
#define TENSORRT_FAMILY(name)                                                                     \
  static TENON_MAKE_CONVERT(convert) {                                                            \
    return tensorrt_run(tenon_make_find_row(rows, sizeof(rows) / sizeof((rows)[0]), call), call); \
  }                                                                                               \
  const tenon_offering_t tensorrt_##name##_family = TENON_OFFERING_OF("converter/1", rows)

/* For plugin.c's list of all families. */
#define TENSORRT_FAMILY_ENTRY(name) &tensorrt_##name##_family,

#endif
