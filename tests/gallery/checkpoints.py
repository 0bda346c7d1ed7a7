"""Small checkpoints in the layout of public GPT-2 and LLaMA files, and the logits that they must give, in numpy alone.

Writes specs/data/*.safetensors and *_ids.npy, and tests/gallery/golden/*_logits.npy. The models are written here a second time,
from their papers, in float64; the tests hold `locus run` against these numbers. Run it from the root of the tree.
"""
import json
import struct
import numpy as np

rng = np.random.default_rng(2019)


def save(path, arrays):
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, (kind, array) in arrays.items():
        raw = np.ascontiguousarray(array)
        part = (raw.view(np.uint32) >> 16).astype("<u2").tobytes() if kind == "BF16" else raw.tobytes()
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text + data)


def normal(*shape, scale=0.3):
    return (scale * rng.standard_normal(shape)).astype(np.float32)


def bfloat(array):
    """Rounded to what BF16 holds, still as float32."""
    return ((array.view(np.uint32) + np.uint32(0x8000)) & np.uint32(0xFFFF0000)).view(np.float32)


def softmax(s):
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def attend(q, k, v):  # one head, causal
    s = q @ k.T / np.sqrt(q.shape[-1])
    return softmax(np.where(np.tril(np.ones(s.shape, bool)), s, -np.inf)) @ v


def gpt2():
    vocab, d, heads, layers, ff, context = 13, 8, 2, 2, 32, 10
    w = {"transformer.wte.weight": normal(vocab, d), "transformer.wpe.weight": normal(context, d)}
    for l in range(layers):
        h = f"transformer.h.{l}."
        for norm in ("ln_1", "ln_2"):
            w[h + norm + ".weight"], w[h + norm + ".bias"] = 1 + normal(d), normal(d)
        for name, a, b in (("attn.c_attn", d, 3 * d), ("attn.c_proj", d, d), ("mlp.c_fc", d, ff), ("mlp.c_proj", ff, d)):
            w[h + name + ".weight"], w[h + name + ".bias"] = normal(a, b), normal(b)
    w["transformer.ln_f.weight"], w["transformer.ln_f.bias"] = 1 + normal(d), normal(d)
    stored = {name: ("F32", array) for name, array in w.items()}
    for l in range(layers):  # buffers that such files hold besides
        stored[f"transformer.h.{l}.attn.bias"] = ("U8", np.tril(np.ones((1, 1, context, context), np.uint8)))
        stored[f"transformer.h.{l}.attn.masked_bias"] = ("F32", np.array(-np.inf, np.float32))
    save("specs/data/gpt2_tiny.safetensors", stored)

    w = {name.replace("transformer.", ""): array.astype(np.float64) for name, array in w.items()}
    ids = rng.integers(0, vocab, 9)

    def norm(x, name):
        x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
        return x * w[name + ".weight"] + w[name + ".bias"]

    def dense(x, name):
        return x @ w[name + ".weight"] + w[name + ".bias"]

    x = w["wte.weight"][ids] + w["wpe.weight"][: len(ids)]
    for l in range(layers):
        h = f"h.{l}."
        q, k, v = np.split(dense(norm(x, h + "ln_1"), h + "attn.c_attn"), 3, axis=1)
        c = d // heads
        y = [attend(q[:, i * c : i * c + c], k[:, i * c : i * c + c], v[:, i * c : i * c + c]) for i in range(heads)]
        x = x + dense(np.concatenate(y, 1), h + "attn.c_proj")
        u = dense(norm(x, h + "ln_2"), h + "mlp.c_fc")
        x = x + dense(0.5 * u * (1 + np.tanh(np.sqrt(2 / np.pi) * (u + 0.044715 * u**3))), h + "mlp.c_proj")
    return ids, norm(x, "ln_f") @ w["wte.weight"].T


def llama():
    vocab, d, heads, groups, layers, ff = 11, 16, 4, 2, 2, 24
    c = d // heads
    w = {"model.embed_tokens.weight": normal(vocab, d)}
    for l in range(layers):
        h = f"model.layers.{l}."
        for name, b, a in (("self_attn.q_proj", d, d), ("self_attn.k_proj", groups * c, d), ("self_attn.v_proj", groups * c, d), ("self_attn.o_proj", d, d),
                           ("mlp.gate_proj", ff, d), ("mlp.up_proj", ff, d), ("mlp.down_proj", d, ff)):
            w[h + name + ".weight"] = normal(b, a)
        w[h + "input_layernorm.weight"], w[h + "post_attention_layernorm.weight"] = 1 + normal(d), 1 + normal(d)
    w["model.norm.weight"], w["lm_head.weight"] = 1 + normal(d), normal(vocab, d)
    w = {name: bfloat(array) for name, array in w.items()}
    stored = {name: ("BF16", array) for name, array in w.items()}
    frequency = 10000.0 ** (-2 * np.arange(c // 2) / c)
    for l in range(layers):
        stored[f"model.layers.{l}.self_attn.rotary_emb.inv_freq"] = ("F32", frequency.astype(np.float32))
    save("specs/data/llama_tiny.safetensors", stored)

    w = {name: array.astype(np.float64) for name, array in w.items()}
    ids = rng.integers(0, vocab, 7)

    def norm(x, name):
        return x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-5) * w[name + ".weight"]

    def turned(x):  # [n, c]: columns p and p + c/2 are a pair
        angle = np.arange(len(x))[:, None] * frequency
        a, b = x[:, : c // 2], x[:, c // 2 :]
        return np.concatenate([a * np.cos(angle) - b * np.sin(angle), b * np.cos(angle) + a * np.sin(angle)], 1)

    x = w["model.embed_tokens.weight"][ids]
    for l in range(layers):
        h = f"model.layers.{l}."
        a = norm(x, h + "input_layernorm")
        q, k, v = (a @ w[h + f"self_attn.{n}_proj.weight"].T for n in "qkv")
        y = []
        for i in range(heads):
            g = i // (heads // groups)
            y.append(attend(turned(q[:, i * c : i * c + c]), turned(k[:, g * c : g * c + c]), v[:, g * c : g * c + c]))
        x = x + np.concatenate(y, 1) @ w[h + "self_attn.o_proj.weight"].T
        b = norm(x, h + "post_attention_layernorm")
        gate = b @ w[h + "mlp.gate_proj.weight"].T
        x = x + (gate / (1 + np.exp(-gate)) * (b @ w[h + "mlp.up_proj.weight"].T)) @ w[h + "mlp.down_proj.weight"].T
    return ids, norm(x, "model.norm") @ w["lm_head.weight"].T


def expected(spec, hierarchy, settings, ids, logits):
    np.save(f"specs/data/{spec}_ids.npy", ids.astype(np.int64))
    np.save(f"tests/gallery/golden/{spec}_logits.npy", logits)
    found = {"shape": list(logits.shape), "mean": logits.mean(), "min": logits.min(), "max": logits.max(), "first": logits.flat[0], "last": logits.flat[-1]}
    found = {key: value if key == "shape" else float(f"{value:.9g}") for key, value in found.items()}
    call = {"spec": f"{spec}.locus", "hierarchy": hierarchy, "inputs": {"id": f"{spec}_ids.npy"}, "settings": settings, "weights": f"{spec}_tiny.safetensors", "map": f"{spec}.map",
            "golden": f"{spec}_logits.npy", "expect": {"result": found | {"tolerance": 0.0001}}}
    print("  " + json.dumps(call))  # the call's line of specs/gallery/gallery.json


expected("gpt2", "gpt2", {"vocab": 13, "width": 8, "heads": 2, "layers": 2, "ff": 32, "context": 10}, *gpt2())
expected("llama", "llama", {"vocab": 11, "width": 16, "heads": 4, "groups": 2, "layers": 2, "ff": 24}, *llama())
