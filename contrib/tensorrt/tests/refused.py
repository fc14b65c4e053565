#!/usr/bin/env python3
"""Builds nodes that the plugin refuses, and reads the messages.

usage: refused.py TENON

The command must end with status 3 and print the words of the case. The exit status is 1 if it does not, 77 if onnx is not installed.
"""
import os
import subprocess
import sys
import tempfile

try:
    from onnx import TensorProto, helper
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

NMS = [(1, 8, 4), (1, 8, 3)]
BATCHED = [(1, 8, 1, 4), (1, 8, 3)]
IMAGE = [(1, 4, 6, 6)]
BERT = [(2, 1, 12, 1, 1)]
# (operator, shapes of f32 inputs, attributes, words of the message)
CASES = [
    ("EfficientNMS_TRT", NMS, {"plugin_version": "2"}, "plugin_version = '2' is not supported: use one of these versions: 1"),
    ("EfficientNMS_TRT", NMS, {"max_output_boxes": 0}, "max_output_boxes = 0 is not supported: use 1 to 16777216"),
    ("EfficientNMS_TRT", NMS, {"max_output_boxes": 2**62}, "is not supported: use 1 to 16777216"),
    ("EfficientNMS_TRT", NMS, {"iou_threshold": 1.5}, "iou_threshold = 1.5 is not supported: use 0 to 1"),
    ("EfficientNMS_TRT", NMS, {"iou_threshold": float("nan")}, "iou_threshold = nan is not supported"),
    ("EfficientNMS_TRT", NMS, {"score_threshold": float("nan")}, "score_threshold = nan is not supported"),
    ("EfficientNMS_TRT", NMS, {"box_coding": 2}, "box_coding = 2 is not supported: use 0 to 1"),
    ("EfficientNMS_TRT", NMS, {"class_agnostic": 7}, "class_agnostic = 7 is not supported"),
    ("EfficientNMS_TRT", [(1, 8, 4), (1, 8)], {}, "input 1, scores, has rank 2, not 3: it is [batch, boxes, classes]"),
    ("EfficientNMS_TRT", [(1, 8, 4), (1, 7, 3)], {}, "8 boxes in 1 images, scores of 7"),
    ("EfficientNMS_TRT", [(1, 8, 2, 4), (1, 8, 3)], {}, "boxes of 2 classes, scores of 3"),
    ("EfficientNMS_TRT", [(1, 8, 4)], {}, "input 1, scores, is absent"),
    ("EfficientNMS_Explicit_TF_TRT", [(1, 8, 4), (1, 8, "c")], {"pad_per_class": 1, "max_output_size_per_class": 2},
     "a known extent is needed"),
    ("BatchedNMS_TRT", BATCHED, {}, "attribute keepTopK is absent"),
    ("BatchedNMS_TRT", BATCHED, {"keepTopK": 5, "numClasses": 4}, "numClasses = 4 is not supported"),
    ("BatchedNMS_TRT", [(1, 8, 3, 4), (1, 8, 3)], {"keepTopK": 5, "shareLocation": 1}, "shareLocation = 1 is not supported"),
    ("NMS_TRT", [(1, 32, 1, 1), (1, 16, 1, 1), (1, 2, 32, 1)], {"keepTopK": 5, "numClasses": 2, "inputOrder": [0, 0, 1]},
     "use each of 0, 1 and 2 once"),
    ("NMS_TRT", [(1, 32, 1, 1), (1, 2, 32, 1), (1, 16, 1, 1)], {"keepTopK": 5, "numClasses": 2, "codeType": 4}, "codeType = 4"),
    ("PyramidROIAlign_TRT", [(1, 2, 4)] + [(1, 2, 8, 8)] * 3, {}, "input 4, feature_map, is absent"),
    ("PyramidROIAlign_TRT", [(1, 2, 4)] + [(1, 2, 8, 8)] * 4, {"legacy": 1, "pooled_size": 1}, "pooled_size = 1 is not supported"),
    ("CropAndResize", [(1, 2, 8, 8), (1, 3, 4, 1)], {"crop_height": 2}, "attribute crop_width is absent"),
    ("ROIAlign_TRT", [(1, 2, 8, 8), (3, 4), (3,)], {"spatial_scale": 0.0}, "spatial_scale = 0 is not supported"),
    ("LReLU_TRT", IMAGE, {}, "attribute negSlope is absent"),
    ("Clip_TRT", IMAGE, {"clipMin": 2.0, "clipMax": 1.0}, "clipMin = 2 is not supported: it is above clipMax"),
    ("InstanceNormalization_TRT", IMAGE, {"scales": [1.0] * 3, "bias": [1.0] * 3}, "attribute scales has 3 numbers for 4 channels"),
    ("InstanceNormalization_TRT", IMAGE, {"scales": [1.0] * 4}, "attribute bias has 0 numbers"),
    ("GroupNormalizationPlugin", [(1, 4, 6, 6), (4,), (4,)], {"num_groups": 3}, "4 channels are not divisible into 3 groups"),
    ("Normalize_TRT", IMAGE, {"weights": [1.0, 2.0]}, "attribute weights has 2 numbers: it needs 1 to 1"),
    ("Region_TRT", [(1, 14, 2, 2)], {"num": 2, "classes": 2, "smTree": 0}, "a pointer to memory of TensorRT"),
    ("Region_TRT", [(1, 13, 2, 2)], {"num": 2, "classes": 2}, "x has 13 channels: num = 2 and classes = 2 need 14"),
    ("Region_TRT", [(1, 14, 2, 2)], {"num": 2, "classes": 2, "coords": 5}, "coords = 5 is not supported"),
    ("Reorg_TRT", [(1, 4, 5, 6)], {"stride": 2}, "stride = 2 is not supported"),
    ("Reorg_TRT", [(1, 4, "h", 6)], {"stride": 2}, "axis 2 of x has extent -1"),
    ("FlattenConcat_TRT", IMAGE, {"axis": 4}, "axis = 4 is not supported: use 1 to 3"),
    ("BatchTilePlugin_TRT", [(2, 3), (2, 3)], {}, "axis 0 of input 1 has extent 2, not 1"),
    ("ResizeNearest_TRT", [(1, 1, "h", 4)], {"scale": 1.5}, "scale = 1.5 is not supported"),
    ("TopkLastDim", [(2, 3)], {"type_id": 1, "k": 2, "is_largest": 1}, "type_id = 1 is not supported: use the type of x"),
    ("TopkLastDim", [(2, 3)], {"type_id": 0, "k": 4, "is_largest": 1}, "k is 4, the axis has 3 elements"),
    ("PriorBox_TRT", [(1, 2, 3, "w"), (1, 3, 9, 9)], {"minSize": [3.0], "variance": [0.1] * 4}, "a known extent is needed"),
    ("PriorBox_TRT", [(1, 2, 3, 3)], {"minSize": [3.0], "variance": [0.1] * 4}, "input 1, image, is absent"),
    ("PriorBox_TRT", [(1, 2, 3, 3)], {"minSize": [3.0], "variance": [0.1] * 4, "imgH": 9, "imgW": 9, "maxSize": [4.0, 5.0]}, "maxSize"),
    ("PriorBox_TRT", [(1, 2, 2**14, 2**14)], {"minSize": [3.0], "variance": [0.1] * 4, "imgH": 9, "imgW": 9}, "are built"),
    ("GridAnchor_TRT", [], {"numLayers": 1, "aspectRatios": [1.0] * 3, "featureMapShapes": [3], "variance": [0.1] * 4}, "numLayers = 1"),
    ("GridAnchor_TRT", [], {"numLayers": 2, "aspectRatios": [1.0] * 2, "featureMapShapes": [3, 2], "variance": [0.1] * 4},
     "attribute aspectRatios has 2 numbers"),
    ("GridAnchorRect_TRT", [], {"numLayers": 2, "aspectRatios": [1.0] * 3, "featureMapShapes": [3, 2], "variance": [0.1] * 4},
     "attribute featureMapShapes has 2 numbers: it needs 4 to 4"),
    ("Proposal", [(1, 2, 3, 3), (1, 12, 3, 3)], {"input_height": 48, "input_width": 48, "rpn_stride": 16, "pre_nms_top_n": 5,
                                                  "post_nms_top_n": 5, "anchor_sizes": [16.0], "anchor_ratios": [1.0, 2.0, 0.5]},
     "scores have 2 channels: 3 anchors need 3"),
    ("ProposalLayer_TRT", [(1, 10, 2, 1), (1, 10, 4, 1)], {"prenms_topk": 5, "keep_topk": 5, "image_size": [3, 8, 8]},
     "there are 10 anchors: image_size = [3, 8, 8] needs 24"),
    ("ProposalLayer_TRT", [(1, 2**40, 2, 1), (1, 2**40, 4, 1)], {"prenms_topk": 5, "keep_topk": 5}, "has extent"),
    ("DetectionLayer_TRT", [(1, 3, 8, 1, 1), (1, 3, 2, 1, 1), (1, 3, 4)], {"num_classes": 3, "keep_topk": 2, "score_threshold": 0.1},
     "num_classes = 3 is not supported"),
    ("ModulatedDeformConv2d", [(1, 2, 5, 5), (1, 18, 3, 3), (1, 9, 3, 3), (2, 2, 3, 3)], {"stride": [0, 1]}, "stride[0] = 0 is not supported"),
    ("MultiscaleDeformableAttnPlugin_TRT", [(1, 4, 1, 2), (1, 2), (1,), (1, 3, 1, 1, 2, 2), (1, 3, 1, 1, 2)], {}, "is not constant"),
    ("DisentangledAttention_TRT", [(1, 3, 3), (1, 3, 8), (1, 3, 8)], {"span": 3, "factor": 0.5}, "span = 3 is not supported"),
    ("CustomQKVToContextPluginDynamic", BERT, {"hidden_size": 4, "num_heads": 2, "plugin_version": "3"}, "int8 in formats of CUDA kernels"),
    ("CustomQKVToContextPluginDynamic", BERT, {"hidden_size": 4, "num_heads": 2, "plugin_version": 2}, "sequences of varying length"),
    ("CustomQKVToContextPluginDynamic", BERT, {"hidden_size": 4, "num_heads": 3}, "it is no multiple of num_heads"),
    ("CustomQKVToContextPluginDynamic", BERT, {"hidden_size": 4, "num_heads": 2, "has_mask": 1}, "there is no input 1"),
    ("CustomSkipLayerNormPluginDynamic", [(2, 1, 3), (2, 1, 3)], {"gamma": [1.0] * 3, "beta": [1.0] * 3, "plugin_version": "4"},
     "int8 in formats of CUDA kernels"),
    ("CustomSkipLayerNormPluginDynamic", [(2, 1, 3), (2, 1, 3)], {"gamma": [1.0] * 4, "beta": [1.0] * 4}, "the weights have 4"),
    ("CustomGeluPluginDynamic", BERT, {"type_id": 2}, "int8 is a type of CUDA kernels"),
    ("CustomFCPluginDynamic", BERT, {"out_dims": 2, "W": [1.0] * 23}, "attribute W has 23 numbers: 12 x 2 are needed"),
    ("CustomEmbLayerNormPluginDynamic", [(2, 1)] * 3, {"plugin_version": "2"}, "sequences of varying length"),
    ("VoxelGeneratorPlugin", [(1, 8, 4), (1,)], {"max_num_points_per_voxel": 2, "max_voxels": 2, "voxel_feature_num": 10, "voxel_size": [1.0] * 3,
                                                  "point_cloud_range": [1.0, 0.0, 0.0, 0.0, 1.0, 1.0]}, "it has no extent"),
    ("VoxelGeneratorPlugin", [(1, 8, 4), (1,)], {"max_num_points_per_voxel": 2, "max_voxels": 2, "voxel_feature_num": 10,
                                                  "voxel_size": [1e-6, 1e-6, 1.0], "point_cloud_range": [0.0] * 3 + [1.0] * 3},
     "more than 2^26 columns"),
    ("PillarScatterPlugin", [(1, 8, 4), (1, 8, 4), (1,)], {"dense_shape": [2**24, 2**24]}, "more than 2^31 places"),
    ("DecodeBbox3DPlugin", [(1, 2, 2, 2), (1, 2, 2, 14), (1, 2, 2, 4)],
     {"anchors": [1.0] * 7, "anchor_bottom_height": [0.0], "point_cloud_range": [0.0] * 6, "num_dir_bins": 2, "score_thresh": 0.1},
     "attribute anchors has 7 numbers: it needs 8 to 8"),
]


def message_of(tenon, op, shapes, attributes):
    """Returns the exit status and the messages."""
    names = [f"i{k}" for k in range(len(shapes))]
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in zip(names, shapes)]
    outputs = ["y", "z"] if op.startswith("GridAnchor") else ["y"]
    node = helper.make_node(op, names, outputs, domain="TRT", name="refused", **attributes)
    graph = helper.make_graph([node], op, inputs, [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("TRT", 1)], ir_version=9)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.onnx")
        with open(path, "wb") as file:
            file.write(model.SerializeToString())
        done = subprocess.run([tenon, "build", path, "-o", path + ".plan", "--no-measuring", "--no-cache"], capture_output=True, text=True,
                              errors="replace", timeout=60, check=False)
    return done.returncode, done.stderr


failures = 0
for op, shapes, attributes, words in CASES:
    status, text = message_of(sys.argv[1], op, shapes, attributes)
    if status != 3 or words not in text or "'refused'" not in text:
        failures += 1
        print(f"{op} {shapes} {attributes}: status {status}, not '{words}': {text.strip()[-400:]}")
print(f"{len(CASES)} nodes, {failures} failures")
sys.exit(failures > 0)
