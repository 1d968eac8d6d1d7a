#!/usr/bin/env python3
"""Checks that kernels keep their values in registers: those of the dense modules on sm_80 and sm_90,
and all on AMD's GPUs.

usage: spills.py OUT    the out folder of a build of targets.json
Exit status: 0 if none does, 1 if some do, 77 if the build has no such image.
"""
import json
import sys

MODULES = {"affine", "binary", "cast", "conv", "fill", "indexing", "rearrange", "reduce", "sort", "ternary",
           "unary"}
TARGETS = {"sm_80", "sm_90"}


def is_amd(image):
    return image["target"].startswith("gfx")


def is_checked(image):
    return is_amd(image) or (image["module"] in MODULES and image["target"] in TARGETS)


# AMD's compiler counts registers, and NVIDIA's bytes.
def unit(image):
    return "registers" if is_amd(image) else "bytes"


def main():
    with open(sys.argv[1] + "/kiln.json", encoding="utf-8") as file:
        catalog = json.load(file)
    images = [i for i in catalog["images"] if is_checked(i)]
    if not images:
        print("skipped: the build has no image for sm_80, sm_90 or AMD's GPUs")
        return 77
    kernels = [(i, k) for i in images for k in i["kernels"]]
    spilling = [(i, k) for i, k in kernels if k["spill_stores"] != 0]
    for image, kernel in spilling:
        print(f"{kernel['name']} for {image['target']} spills {kernel['spill_stores']} {unit(image)}:"
              f" {image['source']}, {kernel['registers']} registers")
    print(f"{len(kernels)} kernels, {len(spilling)} spill")
    return 1 if spilling else 0


sys.exit(main())
