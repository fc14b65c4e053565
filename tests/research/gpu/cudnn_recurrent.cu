/* An LSTM through cuDNN: which of its algorithms it has, what they take launched and as a graph. */
#include <cudnn_adv.h>

#include "operation_graph.cuh"

static cudnnHandle_t handle;

static void recurrent() {
  static const struct {
    const char* name;
    cudnnRNNAlgo_t algorithm;
  } ways[] = {{"standard", CUDNN_RNN_ALGO_STANDARD},
              {"persistent static", CUDNN_RNN_ALGO_PERSIST_STATIC},
              {"persistent dynamic", CUDNN_RNN_ALGO_PERSIST_DYNAMIC},
              {"persistent, small hidden", CUDNN_RNN_ALGO_PERSIST_STATIC_SMALL_H}};
  for (bool single : {false, true}) {
    for (int hidden : {128, 256, 512, 1024}) {
      for (int batch : {1, 16, 32, 64}) {
        const int length = 100;
        printf("LSTM %d of %d, %d steps, batch %d, %s:", hidden, hidden, length, batch,
               single ? "fp32" : "fp16");
        for (const auto& way : ways) {
          cudnnRNNDescriptor_t rnn;
          cudnnDropoutDescriptor_t dropout;
          cudnnRNNDataDescriptor_t x_data, y_data;
          cudnnTensorDescriptor_t state;
          const cudnnDataType_t type = single ? CUDNN_DATA_FLOAT : CUDNN_DATA_HALF;
          CHECK_DNN(cudnnCreateRNNDescriptor(&rnn));
          CHECK_DNN(cudnnCreateDropoutDescriptor(&dropout));
          CHECK_DNN(cudnnSetDropoutDescriptor(dropout, handle, 0, nullptr, 0, 0));
          CHECK_DNN(cudnnCreateRNNDataDescriptor(&x_data));
          CHECK_DNN(cudnnCreateRNNDataDescriptor(&y_data));
          CHECK_DNN(cudnnCreateTensorDescriptor(&state));
          const int dims[3] = {1, batch, hidden}, strides[3] = {batch * hidden, hidden, 1};
          CHECK_DNN(cudnnSetTensorNdDescriptor(state, type, 3, dims, strides));
          cudnnStatus_t status = cudnnSetRNNDescriptor_v8(
              rnn, way.algorithm, CUDNN_LSTM, CUDNN_RNN_SINGLE_INP_BIAS, CUDNN_UNIDIRECTIONAL,
              CUDNN_LINEAR_INPUT, type, CUDNN_DATA_FLOAT,
              single ? CUDNN_DEFAULT_MATH : CUDNN_TENSOR_OP_MATH, hidden, hidden, hidden, 1,
              dropout, CUDNN_RNN_PADDED_IO_DISABLED);
          if (status == CUDNN_STATUS_SUCCESS && way.algorithm == CUDNN_RNN_ALGO_PERSIST_DYNAMIC) {
            status = cudnnBuildRNNDynamic(handle, rnn, batch);
          }
          const std::vector<int> lengths(batch, length);
          CHECK_DNN(cudnnSetRNNDataDescriptor(x_data, type, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED,
                                              length, batch, hidden, lengths.data(), nullptr));
          CHECK_DNN(cudnnSetRNNDataDescriptor(y_data, type, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED,
                                              length, batch, hidden, lengths.data(), nullptr));
          size_t weights = 0, work = 0, reserve = 0;
          if (status == CUDNN_STATUS_SUCCESS) {
            status = cudnnGetRNNWeightSpaceSize(handle, rnn, &weights);
          }
          if (status == CUDNN_STATUS_SUCCESS) {
            status = cudnnGetRNNTempSpaceSizes(handle, rnn, CUDNN_FWD_MODE_INFERENCE, x_data, &work,
                                               &reserve);
          }
          if (status != CUDNN_STATUS_SUCCESS) {
            printf(" %s refused (%s);", way.name, cudnnGetErrorString(status));
            continue;
          }
          const size_t n = (size_t)length * batch * hidden;
          uint8_t* w = device_new<uint8_t>(weights);
          if (single) {
            fill_float<<<64, 256>>>((float*)w, weights / 4, 0, 0.05f, 5);
          } else {
            fill_half<<<64, 256>>>((half*)w, weights / 2, 0.05f, 5);
          }
          uint8_t *x = (uint8_t*)(single ? (void*)random_float(n, 0, 1, 1)
                                         : (void*)random_half(n, 1, 1)),
                  *y = device_new<uint8_t>(n * 4), *work_space = device_new<uint8_t>(work + 1);
          int* device_lengths = device_new<int>(batch);
          CHECK(cudaMemcpy(device_lengths, lengths.data(), batch * 4, cudaMemcpyHostToDevice));
          cudaStream_t s;
          CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
          CHECK_DNN(cudnnSetStream(handle, s));
          auto forward = [&] {
            return cudnnRNNForward(handle, rnn, CUDNN_FWD_MODE_INFERENCE, device_lengths, x_data, x,
                                   y_data, y, state, nullptr, nullptr, state, nullptr, nullptr,
                                   weights, w, work, work_space, 0, nullptr);
          };
          status = forward();
          const cudaError_t ran = cudaStreamSynchronize(s);
          if (status != CUDNN_STATUS_SUCCESS || ran != cudaSuccess) {
            printf(" %s does not run (%s, %s);", way.name, cudnnGetErrorString(status),
                   cudaGetErrorName(ran));
          } else {
            const spread_t t = host_time(
                [&] {
                  CHECK_DNN(forward());
                  CHECK(cudaStreamSynchronize(s));
                },
                11);
            cudaGraph_t graph = nullptr;
            cudaGraphExec_t exec = nullptr;
            CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
            status = forward();
            cudaError_t captured = cudaStreamEndCapture(s, &graph);
            size_t nodes = 0;
            double by_graph = NAN;
            if (captured == cudaSuccess && status == CUDNN_STATUS_SUCCESS) {
              CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
              captured = cudaGraphInstantiate(&exec, graph, 0);
              if (captured == cudaSuccess) {
                by_graph = host_time(
                               [&] {
                                 CHECK(cudaGraphLaunch(exec, s));
                                 CHECK(cudaStreamSynchronize(s));
                               },
                               11)
                               .median;
              }
            }
            cudaGetLastError();
            printf(
                " %s %.0f us (%.0f-%.0f), as a graph %s, %zu nodes, %.0f us, work space %zu KB;",
                way.name, t.median, t.low, t.high,
                captured == cudaSuccess ? cudnnGetErrorString(status) : cudaGetErrorName(captured),
                nodes, by_graph, work >> 10);
          }
          CHECK(cudaStreamSynchronize(s));
          CHECK_DNN(cudnnSetStream(handle, nullptr));
          for (void* p : {(void*)x, (void*)y, (void*)w, (void*)work_space, (void*)device_lengths}) {
            CHECK(cudaFree(p));
          }
          fflush(stdout);
        }
        printf("\n");
      }
    }
  }
}

int main() {
  print_device();
  CHECK_DNN(cudnnCreate(&handle));
  printf("CUDNN %zu\n", cudnnGetVersion());
  recurrent();
}
