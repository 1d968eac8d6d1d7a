#!/usr/bin/env python3
"""PyTorch's time for the benchmark's cases: torch_times.py CASES.json > TIMES.json

kiln_bench --list CASES.json writes the cases; kiln_bench --torch TIMES.json shows the times. Each time
is the median of graphs of launches one after the other, over sets of operands that do not fit in the
cache, as kiln_bench measures ours. Cases whose operation PyTorch lacks are null.
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
# They write into memory that is there: what a launch does, without the allocator's part.
OUT_VARIANT = {"abs", "ceil", "cos", "erf", "exp", "floor", "log", "neg", "recip", "round", "sigmoid",
               "sign", "sin", "sqr", "sqrt", "tanh"}
BEYOND_CACHE = 256 << 20
MOST_PIECES = 400


def split(kernel):
    for spelling in ("fp8_e4m3", "f8_e4m3"):
        if kernel.endswith("_" + spelling):
            return kernel[: -len(spelling) - 1], "f8_e4m3"
    root, _, dtype = kernel.rpartition("_")
    return root, dtype


def values(shape, dtype, kind):
    """Values of a kind, as data.cpp has them."""
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


def prepare(case):
    """(bytes of a set, function that makes one set's launch), or None."""
    root, name = split(case["kernel"])
    dtype, dims, kind = DTYPES.get(name), case["dims"], case["kind"]
    if dtype is None:
        return None
    strides = case.get("strides", [])
    scalars = case.get("scalars")
    size = dtype.itemsize
    first = strides[0] if strides else None
    count, reach = math.prod(dims), extent(dims, first)
    empty = lambda elements: torch.empty(elements, device="cuda", dtype=dtype)

    if root in ("fill", "const_set"):
        value = (scalars or [1.5])[0]
        def make():
            out = view(empty(reach), dims, first)
            return lambda: out.fill_(value)
        return reach * size, make
    if root == "copy2d":
        def make():
            source = view(values((reach,), dtype, kind), dims, strides[0])
            target = view(empty(extent(dims, strides[1])), dims, strides[1])
            return lambda: target.copy_(source)
        return (reach + extent(dims, strides[1])) * size, make

    if root == "ucopy":
        operation = lambda x, out: out.copy_(x)
    elif root == "affine":
        if dtype.is_floating_point:
            mul, add = scalars or (1.7, 0.3)
        else:
            mul, add = 1, 0
        operation = lambda x, out: torch.add(torch.mul(x, mul, out=out), add, out=out)
    elif root == "upowf":
        exponent = (scalars or [2.3])[0]
        operation = lambda x, out: torch.pow(x, exponent, out=out)
    elif root == "uelu":
        slope = (scalars or [2.3])[0]
        operation = lambda x, out: F.elu(x, alpha=slope)
    elif root[:1] == "u" and root[1:] in UNARY:
        function = UNARY[root[1:]]
        if root[1:] in OUT_VARIANT:
            operation = lambda x, out: function(x, out=out)
        else:
            operation = lambda x, out: function(x)
    else:
        return None

    def make():
        source = view(values((reach,), dtype, kind), dims, first)
        target = empty(count).view(dims)
        return lambda: operation(source, target)
    return (reach + count) * size, make


def measure(case, samples):
    prepared = prepare(case)
    if prepared is None:
        return None
    set_bytes, make = prepared
    one_us = max(set_bytes / 4e6, 1.0)
    pieces = min(max(int(2000 / one_us), 4), MOST_PIECES)
    sets = max(1, min(BEYOND_CACHE // max(set_bytes, 1) + 2, pieces, (4 << 30) // max(set_bytes, 1)))
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
    arguments = parser.parse_args()
    with open(arguments.cases) as file:
        cases = json.load(file)["cases"]
    times = {}
    for case in cases:
        try:
            times[case["case"]] = measure(case, arguments.samples)
        except (RuntimeError, NotImplementedError, TypeError) as error:
            print(f"{case['case']}: {str(error).splitlines()[0]}", file=sys.stderr)
            times[case["case"]] = None
    print(json.dumps({"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "us": times},
                     indent=1))


if __name__ == "__main__":
    main()
