#!/usr/bin/env python3
"""PyTorch's time for the benchmark's cases: torch_times.py CASES.json > TIMES.json

kiln_bench --list CASES.json writes the cases; kiln_bench --torch TIMES.json shows the times. Each time
is the median over graphs of launches in sequence, with as many sets of operands as kiln_bench uses for
kiln's kernels; --cached as its option of that name. Cases whose operation PyTorch lacks are null.
"""
import argparse
import json
import math
import statistics
import sys

import torch

DTYPES = {
    "u8": torch.uint8, "u32": getattr(torch, "uint32", None), "i16": torch.int16, "i32": torch.int32,
    "i64": torch.int64, "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32,
    "f64": torch.float64, "f8_e4m3": getattr(torch, "float8_e4m3fn", None),
}
F = torch.nn.functional
UNARY = {
    "abs": torch.abs, "ceil": torch.ceil, "cos": torch.cos, "erf": torch.erf, "exp": torch.exp,
    "floor": torch.floor, "log": torch.log, "neg": torch.neg, "recip": torch.reciprocal,
    "round": torch.round, "sigmoid": torch.sigmoid, "sign": torch.sign, "sin": torch.sin,
    "sqr": torch.square, "sqrt": torch.sqrt, "tanh": torch.tanh, "relu": torch.relu,
    "silu": F.silu, "gelu_erf": F.gelu, "normcdf": torch.special.ndtr,
    "gelu": lambda x: F.gelu(x, approximate="tanh"),
}
# These write into existing memory, so that the time is that of the launch, without the allocator.
OUT_VARIANT = {"abs", "ceil", "cos", "erf", "exp", "floor", "log", "neg", "recip", "round", "sigmoid",
               "sign", "sin", "sqr", "sqrt", "tanh"}
BEYOND_CACHE = 256 << 20
CACHED = 16 << 20
MOST_PIECES = 400


def split(name):
    """Splits uneg_f16 into ("uneg", "f16"); the dtype is None if the name ends with none."""
    for dtype in ("fp8_e4m3", *DTYPES):
        if name.endswith("_" + dtype):
            return name[: -len(dtype) - 1], dtype.replace("fp8", "f8")
    return name, None


def values(shape, dtype, kind):
    """Returns values of a kind, with the same ranges as data.cpp."""
    if dtype == torch.bool:
        return torch.rand(shape, device="cuda") < 0.5
    floating = dtype.is_floating_point
    wide = torch.float64 if dtype == torch.float64 else torch.float32
    draw = lambda make: make(shape, device="cuda", dtype=wide)
    if kind == "uniform":
        data = draw(torch.rand) * (1 if floating else 256)
    elif kind == "negative":
        data = draw(torch.rand) * (-1 if floating else -256)
    else:
        data = draw(torch.randn) * (1 if floating else 32)
    data = data.to(dtype)
    if kind == "special" and floating:
        where = torch.rand(shape, device="cuda") < 0.01
        specials = torch.tensor([math.nan, math.inf, 0.0, torch.finfo(wide).tiny / 2], device="cuda",
                                dtype=wide)
        data = torch.where(where, specials[torch.randint(4, shape, device="cuda")].to(dtype), data)
    return data


def view(storage, dims, strides):
    return torch.as_strided(storage, dims, strides) if strides else storage.view(dims)


def extent(dims, strides):
    if not strides:
        return math.prod(dims)
    return 1 + sum((dim - 1) * stride for dim, stride in zip(dims, strides))


BINARY = {"badd": torch.add, "bsub": torch.sub, "bmul": torch.mul, "bdiv": torch.div,
          "bmaximum": torch.maximum, "bminimum": torch.minimum, "eq": torch.eq, "ne": torch.ne,
          "lt": torch.lt, "le": torch.le, "gt": torch.gt, "ge": torch.ge}
ROWS = {"fast_sum": lambda x: torch.sum(x, -1), "fast_min": lambda x: torch.amin(x, -1),
        "fast_max": lambda x: torch.amax(x, -1), "fast_argmin": lambda x: torch.argmin(x, -1),
        "fast_argmax": lambda x: torch.argmax(x, -1), "softmax": lambda x: torch.softmax(x, -1),
        "rmsnorm": lambda x, alpha: F.rms_norm(x, x.shape[-1:], alpha, 1e-5),
        "layernorm": lambda x, alpha, beta: F.layer_norm(x, x.shape[-1:], alpha, beta)}
TABLES = {"rmsnorm": 1, "layernorm": 2}  # inputs as long as a row


def operation_of(root, dtype, scalars):
    """Returns a function from the inputs to the output; None if PyTorch has no such operation."""
    if root in ("fill", "const_set"):
        return lambda out: out.fill_((scalars or [1.5])[0])
    if root in ("ucopy", "copy2d", "cast"):
        return lambda out, x: out.copy_(x)
    if root == "affine":
        mul, add = (scalars or (1.7, 0.3)) if dtype.is_floating_point else (1, 0)
        return lambda out, x: torch.add(torch.mul(x, mul, out=out), add, out=out)
    if root == "upowf":
        return lambda out, x: torch.pow(x, (scalars or [2.3])[0], out=out)
    if root == "uelu":
        return lambda out, x: F.elu(x, alpha=(scalars or [2.3])[0])
    if root == "where":
        return lambda out, condition, t, f: torch.where(condition, t, f, out=out)
    if root in BINARY:
        return lambda out, x, y: BINARY[root](x, y, out=out)
    if root in ROWS:
        return lambda out, *inputs: ROWS[root](*inputs)
    if root[:1] == "u" and root[1:] in UNARY:
        function = UNARY[root[1:]]
        if root[1:] in OUT_VARIANT:
            return lambda out, x: function(x, out=out)
        return lambda out, x: function(x)
    return None


def prepare(case):
    """Returns (bytes of a set, function that makes the launch of one set), or None."""
    root, last = split(case["kernel"])
    root, first = split(root)
    dtype = DTYPES.get(last)
    first = DTYPES.get(first) if first else dtype
    operation = operation_of(root, dtype, case.get("scalars"))
    if dtype is None or first is None or operation is None:
        return None
    dims, kind = case["dims"], case["kind"]
    lists = case.get("strides", []) + [None] * 3
    inputs = {"fill": [], "const_set": [], "where": [torch.bool, dtype, dtype]}.get(
        root, [dtype, dtype] if root in BINARY else [first])
    out_dtype = torch.bool if root in BINARY and root[0] != "b" else dtype
    out_dims, out_strides = dims, None
    if root == "const_set":
        out_strides = lists[0]
    elif root == "copy2d":
        out_strides = lists[1]
    reach = extent(out_dims, out_strides)

    def make():
        operands = [view(values((extent(dims, lists[i]),), each, kind), dims, lists[i])
                    for i, each in enumerate(inputs)]
        operands += [values((dims[-1],), dtype, kind) for _ in range(TABLES.get(root, 0))]
        # Operations on rows allocate their own output.
        out = None if root in ROWS else view(
            torch.empty(reach, device="cuda", dtype=out_dtype), out_dims, out_strides)
        return lambda: operation(out, *operands)
    set_bytes = sum(extent(dims, lists[i]) * each.itemsize for i, each in enumerate(inputs))
    return set_bytes + reach * out_dtype.itemsize, make


def sets_of(set_bytes, cached):
    """Returns the number of sets of operands, as bench.cpp does."""
    if cached or set_bytes * MOST_PIECES < BEYOND_CACHE:
        return min(max(CACHED // max(set_bytes, 1), 1), 50)
    return min(BEYOND_CACHE // set_bytes + 2, (4 << 30) // set_bytes)


def measure(case, samples, cached):
    prepared = prepare(case)
    if prepared is None:
        return None
    set_bytes, make = prepared
    one_us = max(set_bytes / 4e6, 1.0)
    pieces = min(max(int(2000 / one_us), 4), MOST_PIECES)
    sets = max(1, min(sets_of(set_bytes, cached), pieces))
    launches = [make() for _ in range(sets)]

    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for launch in launches[:3]:
            launch()
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for i in range(pieces):
            launches[i % sets]()
    for _ in range(2):
        graph.replay()
    marks = [torch.cuda.Event(enable_timing=True) for _ in range(samples + 1)]
    marks[0].record()
    for i in range(samples):
        graph.replay()
        marks[i + 1].record()
    torch.cuda.synchronize()
    times = [1000 * marks[i].elapsed_time(marks[i + 1]) / pieces for i in range(samples)]
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases")
    parser.add_argument("--samples", type=int, default=15)
    parser.add_argument("--cached", action="store_true", help="operands stay in the L2 cache")
    arguments = parser.parse_args()
    with open(arguments.cases) as file:
        cases = json.load(file)["cases"]
    times = {}
    for case in cases:
        try:
            times[case["case"]] = measure(case, arguments.samples, arguments.cached)
        except (RuntimeError, NotImplementedError, TypeError) as error:
            print(f"{case['case']}: {str(error).splitlines()[0]}", file=sys.stderr)
            times[case["case"]] = None
    print(json.dumps({"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "us": times},
                     indent=1))


if __name__ == "__main__":
    main()
