"""No kernel at all."""

import torch


def doubled(x):
    return torch.mul(x, 2)
