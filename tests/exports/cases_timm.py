"""timm: its most used families, each in a small form."""
import timm
import torch

from exporting import Case
from torch_export import write

NAMES = """resnet18 resnetv2_50 mobilenetv3_small_050 efficientnet_lite0 tf_efficientnetv2_b0 convnext_atto convnextv2_atto
vit_tiny_patch16_224 deit_tiny_patch16_224 beit_base_patch16_224 swin_tiny_patch4_window7_224 mixer_s16_224 resmlp_12_224
regnety_002 ghostnet_050 mobilevit_xxs edgenext_xx_small levit_128s poolformer_s12 xcit_nano_12_p16_224 eva02_tiny_patch14_224
repvgg_a0 hardcorenas_a dla34 hrnet_w18_small cspresnet50 coat_tiny maxvit_rmlp_pico_rw_256 fastvit_t8 efficientformer_l1""".split()


def case(name):
    def export(path):
        torch.manual_seed(0)
        module = timm.create_model(name, pretrained=False)
        size = module.default_cfg["input_size"]
        return write(module, (torch.randn(2, *size),), path)
    return Case(name, "timm", "torch.onnx dynamo", export)


def cases():
    return [case(name) for name in NAMES]
