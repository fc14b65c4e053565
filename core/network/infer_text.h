/* Inference of what has no operator but a text: "y = max(a, 0) * b" with names for its inputs. */
#ifndef TENON_CORE_NETWORK_INFER_TEXT_H_
#define TENON_CORE_NETWORK_INFER_TEXT_H_

#include "core/network/inference.h"

/* The name that the text gives its first output; NULL when it defines none. */
const char* tenon__text_output(const tenon__text_t* text);
/* The scope of a node with one output and no operator, whose type is not known yet: ports called as
 * the text's inputs, or, without a text, a move's. */
tenon_status_t tenon__infer_text_scope(tenon__inference_t* inference,
                                       const tenon__expression_source_t* source);
/* Type, shape, contents and expression of the text's one output. */
tenon_status_t tenon__infer_text(tenon__inference_t* inference,
                                 const tenon__expression_source_t* source);

#endif
