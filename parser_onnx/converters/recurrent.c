/* Recurrent layers: the operators have ONNX's layouts, gates and names. */
#include "families.h"

#define COMMON "direction activations activation_alpha activation_beta clip layout"
#define ROW(type, op, attributes) TENON__ONNX_ROW("", type, 1, 0, tenon_make_same, op, attributes)

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    ROW("GRU", "gru", COMMON " linear_before_reset"),
    ROW("LSTM", "lstm", COMMON " input_forget"),
    ROW("RNN", "rnn", COMMON),
};
TENON__ONNX_FAMILY(recurrent);
