"""Asks for a tebibyte of memory on the device."""

import torch


def doubled(x):
    torch.empty((1 << 40,), dtype=torch.uint8, device=x.device)
    return x
