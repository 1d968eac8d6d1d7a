#!/usr/bin/env python3
"""Puts measured times into the documents: write_measured.py TIMES.json [TIMES.json ...]

Each file comes from kiln_bench --json on one GPU. Several files of one GPU are merged; a case of a
later file replaces the same case of an earlier one. Writes all cases to docs/measured/<gpu>.csv, and
the part of docs/PERFORMANCE.md between the marks.
"""
import argparse
import collections
import csv
import json
import math
import pathlib
import re
import statistics

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BEGIN, END = "<!-- measured: write_measured.py writes this part -->", "<!-- measured: end -->"
COLUMNS = ("case", "own_us", "original_grid_us", "original_us", "torch_us", "empty_us", "copy_us",
           "read_us", "with_step_before_us", "ggml_us")
LONG_US = 20    # judge.hpp: cases that are compared with rates
SMALL_US = 5    # below, 5% counts as noise; otherwise 3%
SIZES = ("1", "2^12", "2^18", "2^22", "2^28")
SHOWN = ("affine_f32", "badd_f16", "bdiv_f32", "cast_f32_bf16", "where_u8_f32", "uneg_f32", "ugelu_f16",
         "upowf_f32", "ugelu_f64", "const_set_f32", "fill_f16", "copy2d_f32", "ucopy_f32", "fast_sum_f32",
         "fast_max_f16", "softmax_f32", "rmsnorm_f32", "layernorm_f16", "rope_f32", "gather_u32_f32",
         "is_u32_f32", "s_u32_f32", "avg_pool2d_f32", "upsample_nearest2d_f32",
         "upsample_bilinear2d_f32", "im2col_f32")

# Families that share one template for several operations.
GROUPS = (("b(add|sub|mul|div|maximum|minimum)", "arithmetic of two operands"),
          ("eq|ne|lt|le|gt|ge", "comparisons"),
          ("(fast|split(_apart)?)_(sum|max|min|extreme)", "reductions"),
          ("(fast|split(_apart)?)_arg(max|min|extreme)", "arg-reductions"),
          ("conv(_(tiles|patches)\\d+|_channels|\\dd)", "convolutions"),
          ("conv_transpose\\dd", "transposed convolutions"),
          ("a?sort(_asc|_desc)?", "sorts"),
          ("rope(_i|_thd)?", "rope"),
          ("softmax(_staged)?", "softmax"),
          ("u(?!copy|psample).*", "unary functions"))


def number(us):
    return "–" if us is None else f"{us:.2f}" if us < 10 else f"{us:.1f}" if us < 100 else f"{us:.0f}"


def mean(ratios):
    return math.exp(statistics.fmean(map(math.log, ratios))) if ratios else None


def ratio_text(ratio):
    return "–" if ratio is None else f"{ratio:.2f}"


def family_of(kernel):
    """Returns the family of a kernel, without its types: cast, where, dequantize_block, mul_mat_vec, ..."""
    name = re.sub(r"_q\d_[0-9kK](?=_|$)|_q\dk(?=_|$)|_(iq4_nl|mxfp4)(?=_|$)", "", kernel)
    name = re.sub(r"_(cuda\d?|q8_1|long)(?=_|$)", "", name)
    name = re.sub(r"(_(any|sorted))?(_(fp8_e4m3|f8_e4m3|u8|u32|i16|i32|i64|f16|bf16|f32|f64))+$", "", name)
    return next((group for pattern, group in GROUPS if re.fullmatch(pattern, name)), name)


class Gpu:
    def __init__(self, name, documents):
        self.name = name
        self.short = next((part for part in name.split() if re.match(r"[A-Z]+\d+", part)), name)
        self.about = documents[-1]
        cases = {}
        for document in documents:
            for case in document["cases"]:
                cases[case["case"]] = case
        self.cases = list(cases.values())
        self.judged = [case for case in self.cases if case.get("chosen", True)]

    def find(self, name):
        return next((case for case in self.cases if case["case"] == name), None)

    def write_csv(self, folder):
        folder.mkdir(exist_ok=True)
        path = folder / f"{self.short.lower()}.csv"
        with open(path, "w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            for case in sorted(self.cases, key=lambda each: (each["module"], each["case"])):
                row = [case["case"]]
                for column in COLUMNS[1:]:
                    us = case.get(column)
                    row.append("" if us is None else f"{us:.2f}")
                writer.writerow(row)
        return path

    def slower(self, column):
        """(ratio, case) of those slower than the original beyond noise, the worst first."""
        found = []
        for case in self.judged:
            original = case.get("original_us")
            if original is None or (column != "own_us" and case.get("stands_for_original")):
                continue
            noise = 1.05 if original < SMALL_US else 1.03
            if case[column] > original * noise:
                found.append((case[column] / original, case))
        return sorted(found, key=lambda each: -each[0])


def paragraph(gpu):
    with_original = [case for case in gpu.judged if case.get("original_us")]
    long_ones = [case for case in with_original if case["original_us"] >= LONG_US]
    own = mean([case["original_us"] / case["own_us"] for case in long_ones])
    grid = mean([case["original_us"] / case["original_grid_us"] for case in long_ones
                 if not case.get("stands_for_original")])
    return (f"**{gpu.name}**, {gpu.about['target']}, {gpu.about['driver']}, {gpu.about['date']}; a copy of a GiB: "
            f"{gpu.about['copy_bytes_per_second'] / 1e12:.2f} TB/s. {len(gpu.judged)} cases, "
            f"{len(with_original)} with an original. Where the original takes {LONG_US} µs or more, "
            f"{len(long_ones)} cases, ours are {ratio_text(own)} times as fast in our own geometry and {ratio_text(grid)} times "
            f"in the original's (geometric means). Slower than the original beyond noise: "
            f"{len(gpu.slower('own_us'))} in our geometry, {len(gpu.slower('original_grid_us'))} in its own.\n")


def table(lines):
    """A table's text; none where it has no row below its head."""
    return "\n".join(lines) + "\n" if len(lines) > 2 else ""


def size_table(gpu):
    lines = [f"| {gpu.short}, µs | " + " | ".join(SIZES) + " |", "| --- " * (len(SIZES) + 1) + "|"]
    for kernel in SHOWN:
        cells = []
        for size in SIZES:
            case = gpu.find(f"{kernel} {size}")
            cells.append("" if case is None else " / ".join(
                number(case.get(key)) for key in ("original_us", "original_grid_us", "own_us")))
        if any(cells):
            lines.append(f"| {kernel} | " + " | ".join(cells) + " |")
    return table(lines)


def vector_table(gpu):
    """Products of matrices of GGUF blocks by 1, 2, 4 and 8 vectors."""
    counts = (1, 2, 4, 8)
    lines = [f"| {gpu.short}, µs, by " + " / ".join(map(str, counts)) +
             " | bare read | original | ours, its geometry | ours, own | times one |", "| --- " * 6 + "|"]
    for case in gpu.judged:
        found = re.fullmatch(r"mul_mat_vec_(\w+)_q8_1_cuda1 (\d+x\d+)", case["case"])
        if not found:
            continue
        some = [gpu.find(f"mul_mat_vec_{found[1]}_q8_1_cuda{count} {found[2]}") for count in counts]
        if None in some:
            continue
        columns = [" / ".join(number(each.get(key)) for each in some)
                   for key in ("original_us", "original_grid_us", "own_us")]
        times_one = " / ".join(f"{each['own_us'] / case['own_us']:.2f}" for each in some[1:])
        lines.append(f"| {found[1]} {found[2]} | {number(case.get('read_us'))} | " + " | ".join(columns)
                     + f" | {times_one} |")
    return table(lines)


def matrix_table(gpu):
    """The same products by many vectors."""
    counts = (16, 32, 64, 128, 512)
    lines = [f"| {gpu.short}, µs, vectors | " + " | ".join(map(str, counts)) + " |",
             "| --- " * (len(counts) + 1) + "|"]
    for case in gpu.judged:
        found = re.fullmatch(r"(mul_mat|half_matrix)_(\w+) (\d+x\d+)x64", case["case"])
        if not found:
            continue
        cells = []
        for count in counts:
            each = gpu.find(f"{found[1]}_{found[2]} {found[3]}x{count}")
            cells.append("" if each is None else " / ".join(
                number(each[key]) for key in ("original_us", "own_us") if each.get(key))
                + (f" ({number(each['ggml_us'])})" if each.get("ggml_us") else ""))
        lines.append(f"| {found[1]} {found[2]} {found[3]} | " + " | ".join(cells) + " |")
    return table(lines)


def family_table(gpus):
    lines = ["| family | cases | " + " | ".join(
        f"{gpu.short}: below {LONG_US} µs, own / its | from {LONG_US} µs on, own / its | of the copy rate" for gpu in gpus)
        + " |", "| --- " * (2 + 3 * len(gpus)) + "|"]
    groups = collections.OrderedDict()
    for case in sorted(gpus[0].judged, key=lambda each: (each["module"], each["case"])):
        groups.setdefault((case["module"], family_of(case["kernel"])), 0)
        groups[case["module"], family_of(case["kernel"])] += 1
    for (module, family), count in groups.items():
        cells = []
        for gpu in gpus:
            mine = [case for case in gpu.judged
                    if case["module"] == module and family_of(case["kernel"]) == family]
            compared = [case for case in mine if case.get("original_us")]
            in_its = [case for case in compared if not case.get("stands_for_original")]
            for is_long in (False, True):
                pair = [mean([case["original_us"] / case[key] for case in some
                              if (case["original_us"] >= LONG_US) == is_long])
                        for some, key in ((compared, "own_us"), (in_its, "original_grid_us"))]
                cells.append(" / ".join(map(ratio_text, pair)) if any(pair) else "")
            shares = [case["copy_us"] / case["own_us"] for case in mine
                      if case.get("copy_us") and case["own_us"] >= LONG_US and case["view"] == "contiguous"]
            cells.append(f"{100 * statistics.median(shares):.0f}%" if shares else "")
        lines.append(f"| {family} | {count} | " + " | ".join(cells) + " |")
    return table(lines)


def slower_table(gpu, column, what):
    found = gpu.slower(column)
    if not found:
        return f"{gpu.short}, {what}: none.\n"
    groups = {}
    for ratio, case in found:
        groups.setdefault((case["module"], family_of(case["kernel"])), []).append((ratio, case))
    lines = [f"| {gpu.short}, {what} | cases | worst | time / the original's |", "| --- | --- | --- | --- |"]
    for (_, family), cases in sorted(groups.items(), key=lambda each: (each[0][0], -each[1][0][0])):
        ratio, case = cases[0]
        worst = f"{case['case']}: {number(case[column])}, {number(case['original_us'])}"
        span = f"{ratio:.2f}" if len(cases) == 1 else f"{cases[-1][0]:.2f} to {ratio:.2f}"
        lines.append(f"| {family} | {len(cases)} | {worst} | {span} |")
    return table(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("times", nargs="+", help="from kiln_bench --json")
    arguments = parser.parse_args()
    by_gpu = collections.OrderedDict()
    for path in arguments.times:
        document = json.loads(pathlib.Path(path).read_text())
        by_gpu.setdefault(document["gpu"], []).append(document)
    gpus = [Gpu(name, documents) for name, documents in by_gpu.items()]
    for gpu in gpus:
        gpu.write_csv(ROOT / "docs/measured")
    parts = [paragraph(gpu) for gpu in gpus]
    parts.append("Original / ours in its geometry / ours in our own:\n")
    parts += [size_table(gpu) for gpu in gpus]
    parts.append("Times the original's speed, geometric means by family, and the median share of the copy rate "
                 f"of contiguous cases of {LONG_US} µs and more:\n")
    parts.append(family_table(gpus))
    parts.append("#### Products of quantized weights\n\nThe product alone, from float vectors quantized before.\n")
    parts += [vector_table(gpu) for gpu in gpus]
    parts.append("Many vectors: original / ours in our own geometry (ggml, which quantizes, too):\n")
    parts += [matrix_table(gpu) for gpu in gpus]
    parts.append("#### Slower than the original\n")
    for gpu in gpus:
        parts.append(slower_table(gpu, "own_us", "our geometry"))
        parts.append(slower_table(gpu, "original_grid_us", "its geometry"))
    page = ROOT / "docs/PERFORMANCE.md"
    text = page.read_text()
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    page.write_text(before + BEGIN + "\n\n" + "\n".join(filter(None, parts)) + "\n" + END + after)


if __name__ == "__main__":
    main()
