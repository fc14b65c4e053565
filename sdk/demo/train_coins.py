"""Trains a U-Net that tells the coins from the background of a photograph, and writes it as ONNX.

Data: coins/coins.pgm and coins/labels.pgm (see label_coins.py). Training sees columns 0 to 239
alone; columns 256 to 383, the right third, are the test. The 16 columns between belong to neither.

Preprocessing: the network wants grey value / 255.

Needs PyTorch, onnx and onnxruntime. Takes five minutes on one core.
"""

import os

import numpy as np
import torch
from torch import nn
from torch.nn import functional

import onnx_files
from pictures import read_pgm

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "coins")
SEED = 1
TRAINING_COLUMNS = slice(0, 240)

CHANNELS = (8, 16, 24, 32)  # at full, half, quarter and eighth resolution
STEP_COUNT = 1200
BATCH_SIZE = 6
PATCH_SIZE = 128
LEARNING_RATE = 4e-3
WEIGHT_DECAY = 1e-3

# The largest random change to a training patch. Zoom and gamma are factors, contrast is a share,
# the others are parts of the full grey range.
MAX_ZOOM, MAX_GAMMA, MAX_CONTRAST = 1.4, 1.3, 0.2
MAX_BRIGHTNESS, MAX_SLOPE, MAX_NOISE = 0.08, 0.12, 0.02


def preprocess(picture):
    """Grey values, height x width, to the network's input, 1 x 1 x height x width."""
    return picture.astype(np.float32)[None, None] / np.float32(255)


class Block(nn.Module):
    """Twice: 3 x 3 convolution, batch normalisation, ReLU."""

    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.conv = nn.ModuleList(
            nn.Conv2d(channels, out_channels, 3, padding=1, bias=False)
            for channels in (in_channels, out_channels)
        )
        self.norm = nn.ModuleList(nn.BatchNorm2d(out_channels) for _ in range(2))

    def forward(self, value):
        for conv, norm in zip(self.conv, self.norm):
            value = functional.relu(norm(conv(value)))
        return value


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        pairs = list(zip(CHANNELS, CHANNELS[1:]))
        self.first = Block(1, CHANNELS[0])
        self.down = nn.ModuleList(Block(narrow, wide) for narrow, wide in pairs)
        self.grow = nn.ModuleList(nn.ConvTranspose2d(wide, narrow, 2, 2) for narrow, wide in pairs)
        self.up = nn.ModuleList(Block(2 * narrow, narrow) for narrow in CHANNELS[:-1])
        self.head = nn.Conv2d(CHANNELS[0], 1, 1)

    def forward(self, image):
        """Returns scores; their sigmoid is the probability of coin."""
        value, kept = self.first(image), []
        for block in self.down:
            kept.append(value)
            value = block(functional.max_pool2d(value, 2))
        for level in reversed(range(len(self.up))):
            value = torch.cat([kept[level], self.grow[level](value)], 1)
            value = self.up[level](value)
        return self.head(value)


def uniform(low, high, *shape):
    return torch.rand(*shape) * (high - low) + low


def draw_patches(image, mask):
    """A batch of patches from random places, turned, mirrored, zoomed and lit at random."""
    height, width = image.shape[2:]
    angle = uniform(0, 2 * np.pi, BATCH_SIZE)
    zoom = MAX_ZOOM ** uniform(-1, 1, BATCH_SIZE)
    mirror = torch.sign(torch.rand(BATCH_SIZE) - 0.5)
    centre_x = uniform(PATCH_SIZE / 3, width - PATCH_SIZE / 3, BATCH_SIZE)
    centre_y = uniform(PATCH_SIZE / 3, height - PATCH_SIZE / 3, BATCH_SIZE)

    # affine_grid maps the patch's -1..1 onto the picture's -1..1, hence the ratios of sizes.
    cos, sin = torch.cos(angle) / zoom * PATCH_SIZE, torch.sin(angle) / zoom * PATCH_SIZE
    row_x = torch.stack([mirror * cos / width, -sin / width, 2 * centre_x / width - 1], 1)
    row_y = torch.stack([mirror * sin / height, cos / height, 2 * centre_y / height - 1], 1)
    size = (BATCH_SIZE, 1, PATCH_SIZE, PATCH_SIZE)
    grid = functional.affine_grid(torch.stack([row_x, row_y], 1), size, align_corners=False)

    def cut(source):
        source = source.expand(BATCH_SIZE, -1, -1, -1)
        return functional.grid_sample(source, grid, padding_mode="reflection", align_corners=False)

    return light(cut(image)), (cut(mask) > 0.5).float()


def light(images):
    """Changes gamma, contrast and brightness, adds a slope of light and noise."""
    count = len(images)
    images = images.clamp(1e-3, 1) ** (MAX_GAMMA ** uniform(-1, 1, count, 1, 1, 1))
    images = images * (1 + uniform(-MAX_CONTRAST, MAX_CONTRAST, count, 1, 1, 1))
    ramp = torch.linspace(-1, 1, PATCH_SIZE)
    slopes = uniform(-MAX_SLOPE, MAX_SLOPE, 2, count, 1, 1, 1)
    images = images + slopes[0] * ramp + slopes[1] * ramp[:, None]
    images = images + uniform(-MAX_BRIGHTNESS, MAX_BRIGHTNESS, count, 1, 1, 1)
    return images + torch.randn(images.shape) * uniform(0, MAX_NOISE, count, 1, 1, 1)


def train(network, image, mask):
    optimizer = torch.optim.AdamW(network.parameters(), LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, LEARNING_RATE, STEP_COUNT)
    network.train()
    for step in range(STEP_COUNT):
        images, masks = draw_patches(image, mask)
        loss = functional.binary_cross_entropy_with_logits(network(images), masks)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % 200 == 199:
            print(f"step {step + 1}: loss {loss.item():.4f}", flush=True)
    network.eval()
    return network


def save_onnx(path, network, height, width):
    graph = onnx_files.Graph()

    def array(tensor):
        return tensor.detach().numpy()

    def add_block(name, block, source):
        for index, (conv, norm) in enumerate(zip(block.conv, block.norm), 1):
            source = graph.add(
                "Conv",
                f"{name}.conv{index}",
                [source],
                weights=[("weight", array(conv.weight))],
                kernel_shape=[3, 3],
                pads=[1, 1, 1, 1],
            )
            statistics = ("weight", "bias", "running_mean", "running_var")
            source = graph.add(
                "BatchNormalization",
                f"{name}.norm{index}",
                [source],
                weights=[(key, array(getattr(norm, key))) for key in statistics],
                epsilon=norm.eps,
            )
            source = graph.add("Relu", f"{name}.relu{index}", [source])
        return source

    value, kept = add_block("first", network.first, "image"), []
    for level, block in enumerate(network.down, 1):
        kept.append(value)
        value = graph.add(
            "MaxPool", f"down{level}.pool", [value], kernel_shape=[2, 2], strides=[2, 2]
        )
        value = add_block(f"down{level}", block, value)
    for level in reversed(range(1, len(network.up) + 1)):
        grow = network.grow[level - 1]
        value = graph.add(
            "ConvTranspose",
            f"up{level}.grow",
            [value],
            weights=[("weight", array(grow.weight)), ("bias", array(grow.bias))],
            kernel_shape=[2, 2],
            strides=[2, 2],
        )
        value = graph.add("Concat", f"up{level}.concat", [kept[level - 1], value], axis=1)
        value = add_block(f"up{level}", network.up[level - 1], value)
    head = network.head
    weights = [("weight", array(head.weight)), ("bias", array(head.bias))]
    value = graph.add("Conv", "head", [value], weights=weights, kernel_shape=[1, 1])
    graph.add("Sigmoid", "sigmoid", [value], output="mask")
    shape = ["batch", 1, height, width]
    description = (
        "Tells coins from background. Input: grey value / 255. Output: probability of coin."
    )
    graph.save(path, "coins", description, ("image", shape), ("mask", shape))


def main():
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(SEED)

    picture = read_pgm(os.path.join(FOLDER, "coins.pgm"))
    labels = read_pgm(os.path.join(FOLDER, "labels.pgm"))
    image, mask = torch.from_numpy(preprocess(picture)), torch.from_numpy(preprocess(labels))
    network = train(UNet(), image[..., TRAINING_COLUMNS], mask[..., TRAINING_COLUMNS])

    model_path = os.path.join(FOLDER, "model.onnx")
    save_onnx(model_path, network, *picture.shape)
    onnx_files.save_reference(model_path, 0, preprocess(picture))


if __name__ == "__main__":
    main()
