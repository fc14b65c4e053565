"""Writing a module of PyTorch as ONNX, by the exporter of today and by the one before."""
import numpy as np
import torch


def settle(module, inputs):
    """Batch normalisation gets the statistics of random data, so that what goes through keeps its scale."""
    norms = [m for m in module.modules() if isinstance(m, torch.nn.modules.batchnorm._BatchNorm)]
    for norm in norms:
        norm.momentum = None
        norm.reset_running_stats()
        norm.train()
    if norms:
        with torch.no_grad():
            module(*inputs)
    return module.eval()


def write(module, inputs, path, dynamo=True, opset=20, settles=True):
    torch.manual_seed(0)
    module = settle(module.eval(), inputs) if settles else module.eval()
    with torch.no_grad():
        if dynamo:
            torch.onnx.export(module, inputs, path, dynamo=True, opset_version=opset, external_data=False, verbose=False)
        else:
            torch.onnx.export(module, inputs, path, dynamo=False, opset_version=opset)
    return [np.asarray(x) for x in torch.utils._pytree.tree_leaves(inputs)]
