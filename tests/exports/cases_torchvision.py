"""torchvision: one of each family, with random weights."""
import torch
import torchvision

from exporting import Case
from torch_export import write

CLASSIFIERS = """alexnet convnext_tiny densenet121 efficientnet_b0 efficientnet_v2_s googlenet inception_v3 maxvit_t
mnasnet0_5 mobilenet_v2 mobilenet_v3_small regnet_x_400mf regnet_y_400mf resnet18 resnext50_32x4d shufflenet_v2_x0_5
squeezenet1_1 swin_t swin_v2_t vgg11 vit_b_16 wide_resnet50_2""".split()
SEGMENTERS = ["deeplabv3_mobilenet_v3_large", "fcn_resnet50", "lraspp_mobilenet_v3_large"]
# The scripted exporter: their loops over boxes have extents that only the run knows.
DETECTORS = ["fasterrcnn_mobilenet_v3_large_320_fpn", "fasterrcnn_resnet50_fpn", "fcos_resnet50_fpn",
             "keypointrcnn_resnet50_fpn", "maskrcnn_resnet50_fpn", "retinanet_resnet50_fpn", "ssd300_vgg16",
             "ssdlite320_mobilenet_v3_large"]
# Where two scores of the first picture are as good as equal, so that rounding orders them, another one.
PICTURES = {"fcos_resnet50_fpn": 2, "fasterrcnn_mobilenet_v3_large_320_fpn": 2}
# Its normalisations wait for statistics: without, what comes out of the backbone vanishes, and rounding orders the boxes.
UNSETTLED = {"fasterrcnn_mobilenet_v3_large_320_fpn"}


class Mask(torch.nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, image):
        return self.module(image)["out"]


class Boxes(torch.nn.Module):
    """What a detector finds in one picture."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, image):
        found = self.module([image[0]])[0]
        return tuple(found[key] for key in sorted(found))


def settle(module, picture):
    """Gives the backbone's normalisations the statistics of this picture, as training would."""
    for layer in module.backbone.modules():
        if isinstance(layer, torch.nn.BatchNorm2d):
            layer.momentum = 1.0
    images, _ = module.eval().transform([picture[0]])
    with torch.no_grad():
        module.backbone.train()(images.tensors)
    module.eval()


def classifier(name):
    def export(path):
        torch.manual_seed(0)
        other = {"aux_logits": False, "init_weights": True} if name in ("googlenet", "inception_v3") else {}
        module = torchvision.models.get_model(name, weights=None, **other)
        size = 299 if name == "inception_v3" else 256 if name == "swin_v2_t" else 224
        return write(module, (torch.randn(2, 3, size, size),), path)
    return Case(name, "torchvision", "torch.onnx dynamo", export)


def segmenter(name):
    def export(path):
        torch.manual_seed(0)
        module = torchvision.models.get_model(name, weights=None, weights_backbone=None)
        return write(Mask(module), (torch.randn(2, 3, 128, 128),), path)
    return Case(name, "torchvision", "torch.onnx dynamo", export)


def detector(name):
    def export(path):
        torch.manual_seed(0)
        # No score is too low and few boxes are one, so that random weights find many.
        which = {"score_thresh": 0.0} if name.startswith(("ssd", "retinanet", "fcos")) else {"box_score_thresh": 0.0}
        module = torchvision.models.get_model(name, weights=None, weights_backbone=None, **which)
        torch.manual_seed(PICTURES.get(name, 1))
        picture = torch.rand(1, 3, 224, 224)
        if name in UNSETTLED:
            settle(module, picture)
        return write(Boxes(module), (picture,), path, dynamo=False, opset=17, settles=False)
    return Case(name, "torchvision", "torch.onnx scripted", export)


def cases():
    return [*map(classifier, CLASSIFIERS), *map(segmenter, SEGMENTERS), *map(detector, DETECTORS)]
