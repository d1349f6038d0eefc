"""Masked softmax."""

import torch


def masked_softmax(x, mask):
    y = torch.softmax(x.float() + mask, dim=-1)
    return torch.nan_to_num(y).to(x.dtype)
