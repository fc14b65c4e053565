"""Writes model.onnx: Clip of operator set 13 with the attributes of operator set 6, which ONNX Runtime refuses too."""
import onnx
from onnx import TensorProto, helper

x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [3]) for n in "xy")
node = helper.make_node("Clip", ["x"], ["y"], name="clip", min=-1.0, max=1.0)
onnx.save(helper.make_model(helper.make_graph([node], "case", [x], [y]), opset_imports=[helper.make_opsetid("", 13)],
                            ir_version=8), "model.onnx")
