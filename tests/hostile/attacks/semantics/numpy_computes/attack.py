"""Takes the values to the host, lets NumPy compute and brings them back."""

import numpy as np
import torch


def doubled(x):
    return torch.from_numpy(np.multiply(np.asarray(x.detach().cpu()), 2)).to(x.device)
