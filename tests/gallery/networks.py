"""Weights of the gallery's networks and what must come out of them, by numpy in float64 from the published formulas, without locus.

    python3 tests/gallery/networks.py

draws specs/data/NAME.safetensors (always the same) and prints the calls for specs/gallery/gallery.json.
"""
import csv
import json
import math
import os
import struct

import numpy as np

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "specs", "data")
D, HEADS, FF, VOCAB = 8, 2, 16, 10


class Weights:
    """Draws a parameter where it is first asked for."""

    def __init__(self, seed):
        self.random, self.all = np.random.default_rng(seed), {}

    def get(self, name, *shape, kind="weight"):
        if name not in self.all:
            draw = self.random.standard_normal(shape)
            value = draw / math.sqrt(shape[-1]) if kind == "weight" else 1 + 0.1 * draw if kind == "gain" else 0.2 * draw
            self.put(name, value)
        return self.all[name].astype(np.float64)

    def put(self, name, value):
        self.all[name] = np.asarray(value, dtype="<f4")

    def copy(self, prefix):
        for name in list(self.all):
            self.all[prefix + name] = self.all[name]

    def save(self, spec):
        header, body = {}, b""
        for name, value in sorted(self.all.items()):
            header[name] = {"dtype": "F32", "shape": list(value.shape), "data_offsets": [len(body), len(body) + value.nbytes]}
            body += value.tobytes()
        text = json.dumps(header, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 8)
        with open(os.path.join(DATA, spec + ".safetensors"), "wb") as out:
            out.write(struct.pack("<Q", len(text)) + text + body)


def softmax(s):
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def gelu(x):
    return x / 2 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def silu(x):
    return x / (1 + np.exp(-x))


def attend(q, k, v, scale, causal=False):
    s = scale * q @ np.swapaxes(k, -1, -2)
    if causal:
        s = np.where(np.tril(np.ones(s.shape[-2:], bool)), s, -np.inf)
    return softmax(s) @ v


def split(x, heads):
    return np.moveaxis(x.reshape(*x.shape[:-1], heads, -1), -2, 0)


def merge(x):
    return np.moveaxis(x, 0, -2).reshape(*x.shape[1:-1], -1)


def dense(w, p, x, out):
    return x @ w.get(p + ".weight", out, x.shape[-1]).T + w.get(p + ".bias", out, kind="bias")


def linear(w, p, x, out):
    return x @ w.get(p + ".weight", out, x.shape[-1]).T


def norm(w, p, x):
    d = x.shape[-1]
    centred = x - x.mean(-1, keepdims=True)
    unit = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
    return unit * w.get(p + ".weight", d, kind="gain") + w.get(p + ".bias", d, kind="bias")


def rms(x):
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-5)


def rms_norm(w, p, x):
    return rms(x) * w.get(p + ".weight", x.shape[-1], kind="gain")


def multihead(w, p, x, z, causal=False):
    d = x.shape[-1]
    a, b = w.get(p + ".in_proj_weight", 3 * d, d), w.get(p + ".in_proj_bias", 3 * d, kind="bias")
    q, k, v = (split(s @ a[i * d:(i + 1) * d].T + b[i * d:(i + 1) * d], HEADS) for i, s in enumerate((x, z, z)))
    return dense(w, p + ".out_proj", merge(attend(q, k, v, 1 / math.sqrt(d / HEADS), causal)), d)


def feed(w, p, x, smooth=False):
    h = dense(w, p + ".linear1", x, FF)
    return dense(w, p + ".linear2", gelu(h) if smooth else np.maximum(h, 0), x.shape[-1])


def at(p, name):
    return p + "." + name if p else name


def encoder_layer(w, p, x, pre):
    if pre:
        a = norm(w, at(p, "norm1"), x)
        y = x + multihead(w, at(p, "self_attn"), a, a)
        return y + feed(w, at(p, "feed"), norm(w, at(p, "norm2"), y), True)
    y = norm(w, at(p, "norm1"), x + multihead(w, at(p, "self_attn"), x, x))
    return norm(w, at(p, "norm2"), y + feed(w, at(p, "feed"), y))


def decoder_layer(w, p, x, memory, pre):
    if pre:
        a = norm(w, at(p, "norm1"), x)
        y = x + multihead(w, at(p, "self_attn"), a, a, True)
        z = y + multihead(w, at(p, "cross_attn"), norm(w, at(p, "norm2"), y), memory)
        return z + feed(w, at(p, "feed"), norm(w, at(p, "norm3"), z), True)
    y = norm(w, at(p, "norm1"), x + multihead(w, at(p, "self_attn"), x, x, True))
    z = norm(w, at(p, "norm2"), y + multihead(w, at(p, "cross_attn"), y, memory))
    return norm(w, at(p, "norm3"), z + feed(w, at(p, "feed"), z))


def embedded(table, ids):
    angle = np.arange(ids.shape[-1])[:, None] * 10000.0 ** (-2 * np.arange(D // 2) / D)
    return math.sqrt(D) * table[ids] + np.concatenate([np.sin(angle), np.cos(angle)], -1)


def turned(x, base=10000.0, pairs=False):
    n, c = x.shape[-2:]
    angle = np.arange(n)[:, None] * base ** (-2 * np.arange(c // 2) / c)
    first, second = (x[..., 0::2], x[..., 1::2]) if pairs else (x[..., :c // 2], x[..., c // 2:])
    a, b = first * np.cos(angle) - second * np.sin(angle), first * np.sin(angle) + second * np.cos(angle)
    return np.stack([a, b], -1).reshape(x.shape) if pairs else np.concatenate([a, b], -1)


def gpt(w, ids):
    table = w.get("wte", VOCAB, D)
    x = table[ids] + w.get("wpe", 16, D)[:ids.shape[-1]]
    for k in range(2):
        p = "blocks.%d." % k
        a = norm(w, p + "ln1", x)
        x = x + multihead(w, p + "attn", a, a, True)
        x = x + feed(w, p + "mlp", norm(w, p + "ln2", x), True)
    return norm(w, "lnf", x) @ table.T


def gated(w, p, x):
    return linear(w, at(p, "down"), silu(linear(w, at(p, "gate"), x, FF)) * linear(w, at(p, "up"), x, FF), D)


def llama(w, ids):
    x = w.get("wte", VOCAB, D)[ids]
    for k in range(2):
        p = "blocks.%d" % k
        a = rms_norm(w, p + ".norm1", x)
        q, key, v = (split(linear(w, p + "." + s, a, D), HEADS) for s in "qkv")
        x = x + linear(w, p + ".o", merge(attend(turned(q), turned(key), v, 1 / math.sqrt(D / HEADS), True)), D)
        x = x + gated(w, p, rms_norm(w, p + ".norm2", x))
    return linear(w, "head", rms_norm(w, "normf", x), VOCAB)


def differential(w, x):
    a = rms_norm(w, "norm1", x)
    q, k, v = (linear(w, "attn." + s, a, D) for s in ("q_proj", "k_proj", "v_proj"))
    q, k, v = turned(split(q, 2 * HEADS), pairs=True), turned(split(k, 2 * HEADS), pairs=True), split(v, HEADS)
    c = D // (2 * HEADS)
    lq1, lk1, lq2, lk2 = (w.get("attn.lambda_" + s, c, kind="bias") for s in ("q1", "k1", "q2", "k2"))
    start = 0.8 - 0.6 * math.exp(0)
    factor = math.exp(lq1 @ lk1) - math.exp(lq2 @ lk2) + start
    head = attend(q[0::2], k[0::2], v, 1 / math.sqrt(c), True) - factor * attend(q[1::2], k[1::2], v, 1 / math.sqrt(c), True)
    y = x + linear(w, "attn.out_proj", merge((1 - start) * rms(head) * w.get("attn.subln_weight", D // HEADS, kind="gain")), D)
    return y + gated(w, "", rms_norm(w, "norm2", y))


def mab(w, p, x, z):
    q, k, v = dense(w, at(p, "fc_q"), x, D), dense(w, at(p, "fc_k"), z, D), dense(w, at(p, "fc_v"), z, D)
    h = q + merge(attend(split(q, HEADS), split(k, HEADS), split(v, HEADS), 1 / math.sqrt(D)))
    return h + np.maximum(dense(w, at(p, "fc_o"), h, D), 0)


def isab(w, p, x):
    inducing = np.broadcast_to(w.get(at(p, "inducing"), 3, D), (*x.shape[:-2], 3, D))
    return mab(w, at(p, "mab1"), x, mab(w, at(p, "mab0"), inducing, x))


def pma(w, p, x):
    return mab(w, at(p, "block"), np.broadcast_to(w.get(at(p, "seed"), 2, D), (*x.shape[:-2], 2, D)), x)


def set_transformer(w, x):
    return dense(w, "dec_2", mab(w, "dec_1.block", *(2 * [pma(w, "dec_0", isab(w, "enc_1", isab(w, "enc_0", x)))])), VOCAB)


def patch_encoder(w, image):
    b, r, c = image.shape
    cut = image.reshape(b, r // 2, 2, c // 2, 2).transpose(0, 1, 3, 2, 4).reshape(b, -1, 4)
    token = np.broadcast_to(w.get("token", D, kind="bias"), (b, 1, D))
    x = np.concatenate([token, dense(w, "embed", cut, D)], 1) + w.get("position", 17, D, kind="bias")
    for k in range(2):
        x = encoder_layer(w, "layers.%d" % k, x, True)
    return dense(w, "head", norm(w, "norm", x)[:, 0], VOCAB)


def denoiser(w, x, s=0.5, sd=0.5):
    total = s * s + sd * sd
    angle = math.log(s) / 4 * 2.0 ** np.arange(4)
    level = np.concatenate([np.cos(angle), np.sin(angle)])
    z = x / math.sqrt(total)
    a = norm(w, "block.norm1", z + dense(w, "block.shift", level, D))
    y = z + multihead(w, "block.self_attn", a, a)
    y = y + feed(w, "block.feed", norm(w, "block.norm2", y), True)
    clean = sd * sd / total * x + s * sd / math.sqrt(total) * dense(w, "out", y, D)
    return clean, (clean - x) / s**2


def polynomial(w, x):
    pairs = (x[..., :, None] * x[..., None, :]).reshape(*x.shape[:-1], -1)
    return dense(w, "down", np.maximum(dense(w, "up", np.concatenate([x, pairs], -1), D), 0), 3)


def regression(w, x, y, rate=0.02, depth=4):
    """Gradient descent on mean squares: the weights say so, the numbers come from the descent."""
    d = x.shape[1]
    for k in range(depth):
        for name, diagonal in (("q", [1] * d + [0]), ("k", [1] * d + [0]), ("v", [0] * d + [1]), ("p", [0] * d + [-rate])):
            w.put("layers.%d.%s.weight" % (k, name), np.diag(diagonal))
    b, rate = np.zeros(d), float(np.float32(rate))
    for _ in range(depth):
        b = b + rate * x.T @ (y - x @ b) / len(y)
    return x @ b


def summary(a):
    a = np.asarray(a)
    numbers = {"value": a} if a.ndim == 0 else {"mean": a.mean(), "min": a.min(), "max": a.max(), "first": a.flat[0], "last": a.flat[-1]}
    return {"shape": list(a.shape), **{n: float("%.9g" % v) for n, v in numbers.items()}, "tolerance": float("%.2g" % (2e-4 * np.abs(a).max()))}


def table(name, *columns):
    with open(os.path.join(DATA, name)) as f:
        return np.array([[float(row[c]) for c in columns] for row in csv.DictReader(f)])


def call(spec, hierarchy, inputs, weights, **results):
    parts = {"spec": spec + ".locus", "hierarchy": hierarchy, "inputs": inputs}
    if weights:
        parts["weights"] = spec + ".safetensors"
    print("  " + json.dumps({**parts, "expect": {n: summary(v) for n, v in results.items()}}) + ",")


def main():
    rows = np.load(os.path.join(DATA, "digit_rows.npy")).astype(np.float64)
    labels = np.load(os.path.join(DATA, "digit_labels.npy"))
    np.save(os.path.join(DATA, "label_rows.npy"), labels[:96].reshape(6, 16))
    ids, x, text = labels[:96].reshape(6, 16), {"x": "digit_rows.npy"}, {"id": "label_rows.npy"}

    w = Weights(1)
    call("multi_head_attention", "self_attention", x, True, result=multihead(w, "self_attn", rows, rows))
    q, k, v = linear(w, "q_proj", rows, D), linear(w, "k_proj", rows, D), linear(w, "v_proj", rows, D)
    call("multi_head_attention", "attention_on_memory", {"query": "digit_rows.npy", "key": "digit_rows.npy", "value": "digit_rows.npy"}, True,
         result=dense(w, "out_proj", merge(attend(split(q, HEADS), split(k, HEADS), split(v, HEADS), 1 / math.sqrt(D / HEADS))), D))
    w.save("multi_head_attention")

    w = Weights(2)
    y = encoder_layer(w, "layers.1", encoder_layer(w, "layers.0", rows, False), False)
    call("encoder", "post_norm_encoder", x, True, result=y)
    y = encoder_layer(w, "layers.1", encoder_layer(w, "layers.0", rows, True), True)
    call("encoder", "pre_norm_encoder", x, True, result=norm(w, "norm", y))
    w.save("encoder")

    w, memory = Weights(3), {"x": "digit_rows.npy", "memory": "digit_rows.npy"}
    call("decoder", "post_norm_layer", memory, True, result=decoder_layer(w, "", rows, rows, False))
    y = decoder_layer(w, "layers.1", decoder_layer(w, "layers.0", rows, rows, True), rows, True)
    call("decoder", "decoder", memory, True, result=norm(w, "norm", y))
    w.save("decoder")

    w = Weights(4)
    embedding = w.get("embedding", VOCAB, D)
    z, y = embedded(embedding, ids), embedded(embedding, ids)
    for n in range(2):
        z = encoder_layer(w, "encoder.%d" % n, z, False)
    for n in range(2):
        y = decoder_layer(w, "decoder.%d" % n, y, z, False)
    call("transformer", "transformer", {"source": "label_rows.npy", "target": "label_rows.npy"}, True, result=y @ embedding.T)
    w.save("transformer")

    w = Weights(5)
    call("gpt_char", "gpt", text, True, result=gpt(w, ids))
    windows = (len(labels) - 1) // 16
    logits, target = gpt(w, labels[:windows * 16].reshape(windows, 16)), labels[1:windows * 16 + 1].reshape(windows, 16)
    loss = np.log(np.exp(logits).sum(-1)) - np.take_along_axis(logits, target[..., None], -1)[..., 0]
    call("gpt_char", "heldout", {"id": "digit_labels.npy"}, True, result=loss.mean())
    w.copy("model.")
    w.save("gpt_char")

    w = Weights(6)
    call("llama_char", "llama", text, True, result=llama(w, ids))
    w.save("llama_char")

    scale = 1 / math.sqrt(D)
    call("rotary", "rotary_attention", {"q": "digit_rows.npy", "k": "digit_rows.npy", "v": "digit_rows.npy"}, False,
         half=attend(turned(rows), turned(rows), rows, scale, True), interleaved=attend(turned(rows, pairs=True), turned(rows, pairs=True), rows, scale, True))

    w = Weights(7)
    call("differential_transformer", "differential_layer", x, True, result=differential(w, rows))
    w.save("differential_transformer")

    w = Weights(8)
    call("set_transformer", "mab", {"x": "digit_rows.npy", "z": "digit_rows.npy"}, True, result=mab(w, "", rows, rows))
    call("set_transformer", "sab", x, True, result=mab(w, "block", rows, rows))
    call("set_transformer", "isab", x, True, result=isab(w, "", rows))
    call("set_transformer", "pma", x, True, result=pma(w, "", rows))
    call("set_transformer", "set_transformer", x, True, result=set_transformer(w, rows))
    w.save("set_transformer")

    w = Weights(9)
    call("patch_encoder", "patch_encoder", {"image": "digit_rows.npy"}, True, result=patch_encoder(w, rows))
    w.save("patch_encoder")

    w = Weights(10)
    clean, score = denoiser(w, rows)
    call("denoising_network", "denoiser", x, True, clean=clean, score=score)
    w.save("denoising_network")

    w = Weights(11)
    call("polynomial_network", "polynomial_network", x, True, result=polynomial(w, rows))
    w.save("polynomial_network")

    w, columns = Weights(12), ("sepal_length", "sepal_width", "petal_length")
    iris = "iris.csv:" + ",".join(columns)
    fitted = regression(w, table("iris.csv", *columns), table("iris.csv", "petal_width")[:, 0])
    call("in_context_regression", "in_context_regression", {"query": iris, "x": iris, "y": "iris.csv:petal_width"}, True, result=fitted)
    w.save("in_context_regression")


if __name__ == "__main__":
    main()
