/* Any bytes as the weights of a network. */
#include "testing/under_test.h"
#include "weights.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const char net[] =
      "input: 'x' input_dim: 1 input_dim: 2 input_dim: 4 input_dim: 4\n"
      "layer { name: 'c' type: 'Convolution' bottom: 'x' top: 'y'"
      " convolution_param { num_output: 2 kernel_size: 1 } }\n"
      "layer { name: 'b' type: 'BatchNorm' bottom: 'y' top: 'y' }\n"
      "layer { name: 's' type: 'Scale' bottom: 'y' top: 'y' scale_param { bias_term: true } }\n"
      "layer { name: 'f' type: 'InnerProduct' bottom: 'y' top: 'z'"
      " inner_product_param { num_output: 2 } }";
  static tenon__fake_t fake;
  tenon_reader_t reader;
  tenon__caffe_weights_t weights = {.first = NULL};
  tenon__fake_initialize(&fake, &under_test);
  tenon__fake_add_part(&fake, net, sizeof(net) - 1);
  tenon__fake_add_part(&fake, data, size);
  (void)tenon__fake_parse(&fake);
  /* And every blob, whatever its layer is called. */
  tenon__fake_reader(&fake, &reader);
  (void)tenon__caffe_weights_read(&reader, data, size, &weights);
  for (tenon__caffe_blobs_t* blobs = weights.first; blobs != NULL; blobs = blobs->next) {
    for (uint32_t i = 0; i < blobs->count; ++i) {
      tenon_tensor_view_t view;
      (void)tenon__caffe_blob_view(&reader, &blobs->blobs[i], "a blob", &view);
    }
  }
  tenon__fake_deinitialize(&fake);
  return 0;
}
