#!/usr/bin/env python3
"""Checks that kernels do not spill registers: those of the dense modules on sm_80 and sm_90, or all
on AMD's GPUs. AMD's scalar registers do not count: they are spilled to vector registers.

usage: spills.py OUT nvidia|amd    OUT: the out folder of a build of targets.json
Exit status: 0 if none does, 1 if some do, 77 if the build has no such image.
"""
import json
import sys

MODULES = {"affine", "binary", "cast", "conv", "fill", "indexing", "rearrange", "reduce", "sort", "ternary",
           "unary"}
TARGETS = {"sm_80", "sm_90"}


def is_checked(image, vendor):
    if vendor == "amd":
        return image["target"].startswith("gfx")
    return image["module"] in MODULES and image["target"] in TARGETS


def main():
    out, vendor = sys.argv[1:]
    field, unit = {"nvidia": ("spills", "bytes"), "amd": ("spill_stores", "registers")}[vendor]
    with open(out + "/kiln.json", encoding="utf-8") as file:
        catalog = json.load(file)
    images = [i for i in catalog["images"] if is_checked(i, vendor)]
    if not images:
        print("skipped: the build has no image for " + {"nvidia": "sm_80 or sm_90", "amd": "AMD's GPUs"}[vendor])
        return 77
    kernels = [(i, k) for i in images for k in i["kernels"]]
    spilling = [(i, k) for i, k in kernels if k[field] != 0]
    for image, kernel in spilling:
        print(f"{kernel['name']} for {image['target']} spills {kernel[field]} {unit}:"
              f" {image['source']}, {kernel['registers']} registers")
    print(f"{len(kernels)} kernels, {len(spilling)} spill")
    return 1 if spilling else 0


sys.exit(main())
