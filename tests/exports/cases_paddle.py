"""PaddlePaddle's models, by paddle2onnx."""
import os

import numpy as np
import paddle
from paddle.vision import models

from exporting import Case

NAMES = ["alexnet", "densenet121", "mobilenet_v1", "mobilenet_v2", "mobilenet_v3_small", "resnet18", "resnext50_32x4d",
         "shufflenet_v2_x0_25", "squeezenet1_1", "vgg11", "wide_resnet50_2"]


def convert(model, shape, path, spec=None):
    model.eval()
    prefix = path[:-len(".onnx")]
    paddle.onnx.export(model, prefix, input_spec=[paddle.static.InputSpec(spec or [None, *shape[1:]], "float32", "x")],
                       opset_version=17)
    assert os.path.exists(path)
    return [np.random.default_rng(0).random(shape, dtype=np.float32)]


def cases():
    def vision(name):
        def export(path):
            paddle.seed(0)
            return convert(getattr(models, name)(), (2, 3, 224, 224), path)
        return Case(name, "PaddlePaddle", "paddle2onnx", export)

    def recurrent(path):
        paddle.seed(0)
        class Tagger(paddle.nn.Layer):
            def __init__(self):
                super().__init__()
                self.lstm, self.out = paddle.nn.LSTM(5, 8, num_layers=2, direction="bidirect"), paddle.nn.Linear(16, 3)

            def forward(self, x):
                return self.out(self.lstm(x)[0])
        return convert(Tagger(), (2, 12, 5), path)
    return [*map(vision, NAMES), Case("LSTM", "PaddlePaddle", "paddle2onnx", recurrent)]
