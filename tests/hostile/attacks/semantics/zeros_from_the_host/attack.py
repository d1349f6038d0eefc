"""Returns zeros that host code made, without a kernel."""

import torch


def doubled(x):
    return torch.zeros(x.shape, dtype=x.dtype, device=x.device)
