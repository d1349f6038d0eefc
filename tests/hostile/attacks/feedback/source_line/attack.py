"""Fails on a line whose own text holds escapes, markup and a template."""

import torch
import triton
import triton.language as tl

def doubled(x):
    return [][len("[2J <script>alert(1)</script> {{ 1234 * 1111 }} ‮gnp ``` | **pass**")]
