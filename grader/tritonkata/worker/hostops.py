"""What host code may do with tensors: allocate, view, fill, copy, ask. All else belongs in a kernel.

Operations are told apart by the name under which torch dispatches them
(`aten::view`), so every spelling of one operation is judged alike. Both workers
that run a submission use this table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Protocol

from tritonkata.model.mathematics import ARITHMETIC, STEPS, word_of

Kind = Literal["allocate", "view", "fill", "copy", "query", "refused"]

_KINDS: dict[Kind, str] = {
    "allocate": "empty empty_strided empty_like new_empty new_empty_strided zeros zeros_like new_zeros "
    "ones ones_like new_ones full full_like new_full",
    "view": "view _unsafe_view _reshape_alias reshape expand permute t transpose squeeze unsqueeze select slice "
    "as_strided unbind split split_with_sizes unfold diagonal detach alias lift_fresh",
    "fill": "fill_ zero_",
    "copy": "clone copy_",
    "query": "is_same_size is_pinned sym_size sym_stride sym_numel sym_storage_offset dim",
}
KIND_OF: dict[str, Kind] = {name: kind for kind, names in _KINDS.items() for name in names.split()}

_INSIDE = "Do this inside the kernel: it is what the drill asks for."
_ARITHMETIC = "Load the elements in a kernel, compute there, and store the result."
_VALUES = "Host code does not know the values. Decide inside the kernel, or from shapes and strides."
_CAST = "Load the tensor as it is, and write `.to(tl.float32)` after the `tl.load` in the kernel."
_PAD = "Nothing needs padding: load with `mask=cols < n_cols` and a fitting `other`."
_CREATE = "Allocate with torch.empty, and let a kernel write the values (`tl.arange` gives indices)."
_MOVE = "Tensors stay on the device they came on: take `device=x.device` for new ones."
_INDEX = "Index with numbers and slices only; a kernel can gather with an offset tensor."
_OTHER = "Host code may allocate (empty, zeros, full), view and call contiguous(); the rest belongs in a kernel."

_ADVICE_NAMES: dict[str, str] = {
    _VALUES: "item tolist numpy cpu __array__ __dlpack__ __bool__ __float__ __int__ __index__ __complex__ __contains__ "
    "__cuda_array_interface__ is_nonzero equal allclose isclose any all isnan isinf isfinite nonzero unique eq ne "
    "__eq__ __ne__ lt le gt ge isneginf isposinf count_nonzero logical_not logical_and logical_or storage",
    _CAST: "to float half bfloat16 double int long short bool type _to_copy",
    _PAD: "pad constant_pad_nd cat stack concat hstack vstack",
    _CREATE: "arange rand randn rand_like randn_like randint tensor as_tensor asarray from_numpy eye linspace "
    "scalar_tensor uniform_ normal_ triu tril",
    _MOVE: "cuda",
    _INDEX: "index index_select gather take masked_select index_put_ scatter scatter_ __getitem__ __setitem__",
}
_ADVICE: dict[str, str] = {
    **dict.fromkeys(ARITHMETIC, _ARITHMETIC),
    **dict.fromkeys(STEPS, _INSIDE),
    **{name: advice for advice, names in _ADVICE_NAMES.items() for name in names.split()},
}

# Where torch's inner name would mean little to who wrote the outer one.
_PUBLIC: dict[str, str] = {
    "_softmax": "torch.softmax",
    "_log_softmax": "torch.log_softmax",
    "_to_copy": "Tensor.to",
    "_local_scalar_dense": "Tensor.item",
    "constant_pad_nd": "torch.nn.functional.pad",
    "lift": "torch.tensor",
    "index": "Tensor.__getitem__",
    "index_put_": "Tensor.__setitem__",
}
# Modules whose operators torch itself names with the module in front: `linalg_norm`.
_MODULES = ("fft", "linalg", "special")


class Overload(Protocol):
    """The part of `torch._ops.OpOverload` that is looked at."""

    _schema: Any


class HostOpRefused(Exception):
    """Host code asked for more than allocation and views.

    `operation` is what the learner wrote (`torch.softmax`), `advice` what to write instead.
    """

    def __init__(self, operation: str, advice: str) -> None:
        super().__init__(f"{operation} is not available in host code here")
        self.operation = operation
        self.advice = advice


def base_name(func: Overload) -> str:
    """`aten::sum.dim_IntList` is `sum`."""
    return str(func._schema.name).rpartition("::")[2]


def classify(func: Overload) -> Kind:
    """Which kind of operation `func` is. What is not on the list is refused."""
    schema = func._schema
    writes_elsewhere = schema.overload_name == "out" or schema.overload_name.endswith("_out")
    if not str(schema.name).startswith("aten::") or writes_elsewhere:
        return "refused"
    return KIND_OF.get(base_name(func), "refused")


def refusal(func: Overload, written: str = "") -> HostOpRefused:
    """The exception for a refused operation. `written` is the public name, where the caller knows it."""
    name = base_name(func)
    return refuse(written or _PUBLIC.get(name) or (f"Tensor.{name}" if name.endswith("_") else _in_torch(name)))


def refuse(name: str, advice: str = "") -> HostOpRefused:
    """The exception for an operation by its public name (`Tensor.item`), with the advice for it."""
    word = name.rpartition(".")[2]
    return HostOpRefused(name[:200], advice or _ADVICE.get(word) or _ADVICE.get(word_of(name), _OTHER))


def public_name(func: Callable[..., Any]) -> str:
    """How a learner spells `func`, a function that torch hands to `__torch_function__`.

    Empty for attribute reads such as `x.shape`, which name no operation.
    """
    name = str(getattr(func, "__name__", ""))
    qualified = str(getattr(func, "__qualname__", name))
    if name == "__get__":
        attribute = str(getattr(getattr(func, "__self__", None), "__name__", ""))
        return f"Tensor.{attribute}" if attribute else ""
    if qualified.startswith(("TensorBase.", "Tensor.", "_TensorBase.")):
        return f"Tensor.{name}"
    module = str(getattr(func, "__module__", "") or "torch")
    if module.startswith("torch._C._nn"):
        module = "torch.nn.functional"
    elif module == "torch.functional" or module.startswith("torch._"):
        return _in_torch(name) if name else ""
    return f"{module}.{name}" if name else ""


def _in_torch(name: str) -> str:
    """`linalg_norm` is written `torch.linalg.norm`."""
    module, _, rest = name.partition("_")
    return f"torch.{module}.{rest}" if rest and module in _MODULES else f"torch.{name}"
