"""Operators of torch that do mathematics: where host code calls one, torch does the work of a kernel.

Operators go by the last word of their public name (`norm` of `torch.linalg.norm`, `exp` of `Tensor.exp_`).
"""

from __future__ import annotations

_STEPS = (
    "softmax log_softmax logsumexp softmin sum mean max min amax amin aminmax argmax argmin cumsum prod "
    "exp exp2 expm1 log log2 log10 log1p norm vector_norm matrix_norm normalize var std var_mean std_mean nansum "
    "nanmean median cummax cummin cumprod logcumsumexp layer_norm rms_norm group_norm sort topk"
)
STEPS = frozenset(_STEPS.split())
"""What a drill may ask for as a whole."""

_ARITHMETIC = (
    "add sub rsub subtract mul multiply div divide true_divide rdiv floor_divide floordiv rfloordiv remainder mod neg "
    "negative abs sign square pow rpow sqrt rsqrt maximum minimum clamp clamp_min clamp_max clip where masked_fill "
    "matmul rmatmul mm bmm addmm addcmul addcdiv einsum dot linear sigmoid relu gelu silu softplus log_sigmoid erf "
    "tanh sin cos floor ceil round nan_to_num reciprocal lerp"
)
ARITHMETIC = frozenset(_ARITHMETIC.split())
"""Steps on the way to it."""


def word_of(operation: str) -> str:
    """The word that an operator goes by: spelt in place, as an operator sign or by its module, it is the same one."""
    return operation.rpartition(".")[2].strip("_")


def is_mathematics(operation: str) -> bool:
    """Whether the operator of this public name does mathematics."""
    return word_of(operation) in STEPS | ARITHMETIC
