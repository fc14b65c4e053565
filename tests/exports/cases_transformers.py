"""Hugging Face's transformers, small, with random weights."""
import torch
import transformers as tr

from exporting import Case
from torch_export import write

SMALL = dict(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128)
LLAMA = dict(**SMALL, vocab_size=500, num_key_value_heads=2, max_position_embeddings=128)
SPEECH = dict(d_model=64, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4,
              encoder_ffn_dim=128, decoder_ffn_dim=128, vocab_size=500, pad_token_id=0, bos_token_id=1, eos_token_id=2,
              decoder_start_token_id=1)


class Named(torch.nn.Module):
    """The model under the names of its arguments; tensors out, without those that it keeps for itself."""

    def __init__(self, module, names, key=None, **others):
        super().__init__()
        self.module, self.names, self.key, self.others = module, names, key, others

    def forward(self, *values):
        made = self.module(**dict(zip(self.names, values)), **self.others)
        return made[self.key] if self.key is not None else made[0]


class Cached(torch.nn.Module):
    """A decoder's next word, from what it remembers of the words before: keys and values of two layers in and out."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, ids, k0, v0, k1, v1):
        past = tr.DynamicCache()
        past.update(k0, v0, 0)
        past.update(k1, v1, 1)
        made = self.module(input_ids=ids, past_key_values=past, use_cache=True)
        layers = made.past_key_values.layers
        return made[0], layers[0].keys, layers[0].values, layers[1].keys, layers[1].values


def ids(*shape):
    return torch.randint(3, 400, shape)


def past(heads, size, length=7):
    return tuple(torch.randn(2, heads, length, size) for _ in range(4))


def table():
    gpt2 = tr.GPT2Config(n_embd=64, n_layer=2, n_head=4, vocab_size=500, n_positions=64)
    t5 = tr.T5Config(d_model=64, d_kv=16, d_ff=128, num_layers=2, num_heads=4, vocab_size=500, decoder_start_token_id=0)
    clip = dict(text_config=dict(**SMALL, vocab_size=500), vision_config=dict(**SMALL, image_size=64, patch_size=16),
                projection_dim=32)
    picture = torch.randn(2, 3, 64, 64)
    eyes = dict(**SMALL, image_size=64, patch_size=16)
    words, plain = ["input_ids", "attention_mask"], dict(use_cache=False)
    mask = torch.ones(2, 16, dtype=torch.int64)
    mask[1, 12:] = 0
    return {
        "bert": lambda: (Named(tr.BertModel(tr.BertConfig(**SMALL, vocab_size=500)), words), (ids(2, 16), mask)),
        "distilbert": lambda: (Named(tr.DistilBertModel(tr.DistilBertConfig(dim=64, n_layers=2, n_heads=4, hidden_dim=128,
                                                                            vocab_size=500)), words), (ids(2, 16), mask)),
        "roberta": lambda: (Named(tr.RobertaModel(tr.RobertaConfig(**SMALL, vocab_size=500)), words), (ids(2, 16), mask)),
        "electra": lambda: (Named(tr.ElectraModel(tr.ElectraConfig(**SMALL, embedding_size=64, vocab_size=500)), words),
                            (ids(2, 16), mask)),
        "albert": lambda: (Named(tr.AlbertModel(tr.AlbertConfig(**SMALL, embedding_size=32, vocab_size=500)), words),
                           (ids(2, 16), mask)),
        "mpnet": lambda: (Named(tr.MPNetModel(tr.MPNetConfig(**SMALL, vocab_size=500)), words), (ids(2, 16), mask)),
        "gpt2": lambda: (Named(tr.GPT2LMHeadModel(gpt2), ["input_ids"], **plain), (ids(2, 16),)),
        "gpt2 with cache": lambda: (Cached(tr.GPT2LMHeadModel(gpt2)), (ids(2, 1), *past(4, 16))),
        "llama": lambda: (Named(tr.LlamaForCausalLM(tr.LlamaConfig(**LLAMA)), ["input_ids"], **plain), (ids(2, 16),)),
        "llama with cache": lambda: (Cached(tr.LlamaForCausalLM(tr.LlamaConfig(**LLAMA))), (ids(2, 1), *past(2, 16))),
        "qwen2": lambda: (Named(tr.Qwen2ForCausalLM(tr.Qwen2Config(**LLAMA)), ["input_ids"], **plain), (ids(2, 16),)),
        "t5": lambda: (Named(tr.T5ForConditionalGeneration(t5), ["input_ids", "decoder_input_ids"], **plain),
                       (ids(2, 12), ids(2, 5))),
        "bart": lambda: (Named(tr.BartModel(tr.BartConfig(**SPEECH, max_position_embeddings=64)),
                               ["input_ids", "decoder_input_ids"], **plain), (ids(2, 12), ids(2, 5))),
        "whisper": lambda: (Named(tr.WhisperForConditionalGeneration(tr.WhisperConfig(**SPEECH, max_source_positions=50)),
                                  ["input_features", "decoder_input_ids"], **plain), (torch.randn(2, 80, 100), ids(2, 5))),
        "wav2vec2": lambda: (Named(tr.Wav2Vec2Model(tr.Wav2Vec2Config(**SMALL, conv_dim=(32,) * 7, num_conv_pos_embeddings=16,
                                                                      num_conv_pos_embedding_groups=4)),
                                   ["input_values"]), (torch.randn(2, 4000),)),
        "clip": lambda: (Named(tr.CLIPModel(tr.CLIPConfig(**clip)), ["input_ids", "pixel_values"], "logits_per_image"),
                         (ids(2, 8), picture)),
        "vit": lambda: (Named(tr.ViTModel(tr.ViTConfig(**eyes)), ["pixel_values"]), (picture,)),
        "deit": lambda: (Named(tr.DeiTModel(tr.DeiTConfig(**eyes)), ["pixel_values"]), (picture,)),
        "dinov2": lambda: (Named(tr.Dinov2Model(tr.Dinov2Config(hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                                                                image_size=64, patch_size=16)), ["pixel_values"]), (picture,)),
        "segformer": lambda: (Named(tr.SegformerForSemanticSegmentation(
            tr.SegformerConfig(hidden_sizes=[16, 32, 64, 64], depths=[1] * 4, num_attention_heads=[1, 2, 4, 4],
                               decoder_hidden_size=32)), ["pixel_values"]), (picture,)),
        "swinv2": lambda: (Named(tr.Swinv2Model(tr.Swinv2Config(image_size=64, embed_dim=32, depths=[2, 2], num_heads=[2, 4],
                                                                window_size=4)), ["pixel_values"]), (picture,)),
    }


def cases():
    def case(name, make):
        def export(path):
            torch.manual_seed(0)
            module, inputs = make()
            return write(module, inputs, path)
        return Case(name, "transformers", "torch.onnx dynamo", export)
    return [case(name, make) for name, make in table().items()]
