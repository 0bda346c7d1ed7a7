#!/usr/bin/env python3
"""Writes the inputs, weights and expected numbers of this folder, with numpy alone."""
import numpy as np

r = np.random.default_rng(3)
d, n, m = 12, 5, 4
x, z, logits = r.normal(size=(n, d)), r.normal(size=(m, d)), r.normal(size=7)
w = {}
for name in ("attn", "back"):
    w[name + ".in_proj_weight"], w[name + ".in_proj_bias"] = r.normal(size=(3 * d, d)), r.normal(size=3 * d)
    w[name + ".out_proj.weight"], w[name + ".out_proj.bias"] = r.normal(size=(d, d)), r.normal(size=d)
for name, rows in (("q", d), ("k", d // 2), ("v", d // 2), ("o", d)):
    w[f"gqa.{name}_proj.weight"] = r.normal(size=(rows, d))
for name in ("ln", "gn"):
    w[name + ".weight"], w[name + ".bias"] = r.normal(size=d), r.normal(size=d)
w["rms.weight"] = r.normal(size=d)
w["dense.weight"], w["dense.bias"] = r.normal(size=(5, d)), r.normal(size=5)


def softmax(s):
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def attention(x, z, name, heads, causal):
    parts = [a @ w[name + ".in_proj_weight"][k * d:(k + 1) * d].T + w[name + ".in_proj_bias"][k * d:(k + 1) * d] for k, a in enumerate((x, z, z))]
    out = []
    for h in range(heads):
        q, k, v = (p[:, h * d // heads:(h + 1) * d // heads] for p in parts)
        s = q @ k.T / np.sqrt(d / heads)
        out.append(softmax(np.where(np.tril(np.ones(s.shape, bool)), s, -np.inf) if causal else s) @ v)
    return np.concatenate(out, 1) @ w[name + ".out_proj.weight"].T + w[name + ".out_proj.bias"]


def turned(a):
    c = a.shape[1]
    angle = np.arange(len(a))[:, None] * 10000.0 ** (-2 * np.arange(c // 2) / c)
    u, v = a[:, :c // 2], a[:, c // 2:]
    return np.concatenate([u * np.cos(angle) - v * np.sin(angle), u * np.sin(angle) + v * np.cos(angle)], 1)


def grouped(x, heads, share):
    c = d // heads
    q, k, v = (x @ w[f"gqa.{name}_proj.weight"].T for name in "qkv")
    out = []
    for h in range(heads):
        g = h // share
        s = turned(q[:, h * c:(h + 1) * c]) @ turned(k[:, g * c:(g + 1) * c]).T / np.sqrt(c)
        out.append(softmax(np.where(np.tril(np.ones((n, n), bool)), s, -np.inf)) @ v[:, g * c:(g + 1) * c])
    return np.concatenate(out, 1) @ w["gqa.o_proj.weight"].T


def norm(a):
    return (a - a.mean(-1, keepdims=True)) / np.sqrt(a.var(-1, keepdims=True) + 1e-5)


column = np.arange(d)
angle = np.arange(n)[:, None] / 10000.0 ** ((column - column % 2) / d)
expected = {
    "attention": attention(x, z, "attn", 2, False), "causal": attention(x, x, "back", 3, True), "grouped": grouped(x, 6, 2),
    "normed": norm(x) * w["ln.weight"] + w["ln.bias"], "scaled": x / np.sqrt((x ** 2).mean(-1, keepdims=True) + 1e-5) * w["rms.weight"],
    "in_groups": norm(x.reshape(n, 3, 4)).reshape(n, d) * w["gn.weight"] + w["gn.bias"], "mapped": x @ w["dense.weight"].T + w["dense.bias"],
    "gelu_tanh": x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3))), "sign_relu": np.where(x > 0, x, 0.5 * x / (1 + abs(x))),
    "places": np.where(column % 2 == 0, np.sin(angle), np.cos(angle)), "kept": x, "top": np.where(logits >= np.sort(logits)[-3], logits, -np.inf),
    "draws": softmax(logits / 2),
}
for name, a in (("x", x), ("z", z), ("logits", logits)):
    np.save(name + ".npy", a)
np.savez("weights.npz", **w)
np.savez("expected.npz", **expected)
