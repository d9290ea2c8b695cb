"""Does every operator do what torch's does? torch's own sample inputs, run on both frameworks.

torch keeps a database of its operators (`op_db`), with the inputs on which it tests itself. For each operator that
rushlight has under the same name, every sample of the dtypes below is run on torch and on rushlight, in every form that both
have: the function, the method, in place, `out=` (once with a tensor that has no elements, once with one whose dimensions lie
in memory in reverse order), the Python operator. They agree if the results have the same sizes, strides, offset and dtype,
values as close as `torch.testing.assert_close` asks for, and lie on the memory of the same argument or of none; if all
arguments are afterwards the same, too; and if, where torch raises, rushlight raises an error of the same type.

Nothing is skipped without a word: an argument that rushlight does not take is a disagreement. Counted apart are the samples
that need what rushlight leaves out as a whole (a dtype, a device, a layout, or what it refuses with "rushlight leaves out").
Printed are the forms that only torch has, and the operators of rushlight that torch's database does not know.
"""

from __future__ import annotations

import argparse
import inspect
import sys
import types
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

import numpy as np
import torch
from torch.testing import assert_close

import rushlight as rl
from rushlight.c10.dispatch import operators

SEED = 42  # that of torch's own entries, which set it before they draw
DTYPES = (torch.float32, torch.float64, torch.int64, torch.bool)

# What is compared without its values, since these are nobody's choice.
VALUES_APART = {
    "empty": "whatever was in memory",
    "empty_like": "whatever was in memory",
    "empty_strided": "whatever was in memory",
    "empty_permuted": "whatever was in memory",
    "new_empty": "whatever was in memory",
    "new_empty_strided": "whatever was in memory",
    "resize_": "where it grows, whatever was in memory",
    "nn.functional.multi_head_attention_forward": "large numbers, of which float32 loses the difference",
    "nn.functional.scaled_dot_product_attention": "large numbers, which PyTorch's fused kernel rounds in another order",
}

# What torch itself does wrong (2.13).
FOLDED = "torch refusing an `out` of the right sizes, because it copies a result with folded dimensions into it"
FORMS_APART = {
    ("tril", "out=, transposed"): "torch writing outside of the memory, where a batch is not contiguous",
    ("triu", "out=, transposed"): "torch writing outside of the memory, where a batch is not contiguous",
    ("nn.functional.gelu", "out=, transposed"): "torch leaving parts of an `out` that is not contiguous unwritten",
    ("matmul", "out=, transposed"): FOLDED,
    ("nn.functional.linear", "out=, transposed"): FOLDED,
}


# The position of `dim`, where which of several equal elements is chosen is nobody's choice.
TIES = {"sort": 1, "argsort": 1, "topk": 2, "kthvalue": 2, "mode": 1}


class LeftOut(Exception):
    """A sample needs what rushlight leaves out as a whole."""


@dataclass
class Report:
    """The result for one operator."""

    agree: int = 0
    disagree: list[str] = field(default_factory=list)
    left_out: Counter = field(default_factory=Counter)  # samples by reason
    absent: set[str] = field(default_factory=set)  # forms that torch has and rushlight has not


# ------------------------------------------------------------------------------------------------------------
# Which operators


@cache
def database() -> dict[str, list]:
    """torch's entries by name; an alias (`concat` for `cat`) is a name too. Needs the package expecttest."""
    from torch.testing._internal import common_utils
    from torch.testing._internal.common_methods_invocations import op_db

    common_utils.extract_test_fn = lambda: None  # it reads the sources of all frames to find torch's own test
    entries: dict[str, list] = {}
    for entry in op_db:
        for name in (entry.name, *(alias.name for alias in entry.aliases)):
            entries.setdefault(name, []).append(entry)
    return entries


def nn_functional() -> Any:
    return getattr(getattr(rl, "nn", None), "functional", None)


def public_names() -> list[str]:
    """Every operator that rushlight has: as a function, as a method, in `nn.functional`. In-place forms belong to the
    operators that they are forms of."""
    names = set(rl.functions.__all__) | {name.removeprefix("_") for name in vars(rl.functional).get("__all__", ())}
    names |= {name for name in vars(rl.Tensor) if hasattr(torch.Tensor, name) and not name.startswith("_")}
    names |= {name for name in vars(rl.Tensor) if name.startswith("__") and name in database()}
    names |= {f"nn.functional.{name}" for name in getattr(nn_functional(), "__all__", ())}
    names |= {f"linalg.{name}" for name in rl.linalg.__all__}
    return sorted(names - NOT_OPERATORS)


# Python's view of the metadata, of autograd's books, and the ways out to Python and numpy: tests/rushlight looks at them.
NOT_OPERATORS = {
    "shape", "ndim", "itemsize", "nbytes", "device", "is_meta", "layout", "size", "stride", "storage_offset", "dim",
    "numel", "element_size", "untyped_storage", "data_ptr", "is_contiguous", "numpy", "tolist", "dtype",
    "backward", "grad", "grad_fn", "is_inference", "is_leaf", "output_nr", "register_hook", "requires_grad", "requires_grad_",
    "register_post_accumulate_grad_hook", "retain_grad", "retains_grad",
}  # fmt: skip


def find(xp: Any, name: str) -> Callable | None:
    """`xp.add`, `xp.nn.functional.relu`, `xp.Tensor.view`: the function of this name, else the method."""
    function = xp
    for part in name.split("."):
        function = getattr(function, part, None) if function is not None else None
    return getattr(xp.Tensor, name, None) if function is None else function


def on_rushlight(function: Callable, name: str) -> Callable | None:
    """rushlight's counterpart of a function of torch. One that the database wrote around torch's runs as it is, but with
    rushlight for its `torch`."""
    if isinstance(function, types.FunctionType) and function.__module__.startswith("torch.testing"):
        namespace = function.__globals__ | {"torch": rl}
        copy = types.FunctionType(
            function.__code__, namespace, function.__name__, function.__defaults__, function.__closure__
        )
        copy.__kwdefaults__ = function.__kwdefaults__
        return copy
    if isinstance(function, partial):
        return partial(find(rl, name), *function.args, **function.keywords)
    counterpart = find(rl, name)
    return counterpart if callable(counterpart) else None  # `rl.trace` is a module


# ------------------------------------------------------------------------------------------------------------
# The same arguments twice


class Carrier:
    """Brings arguments over to a framework: tensors with their strides, offsets and the memory that they share."""

    def __init__(self, xp: Any) -> None:
        self.xp, self.storages, self.tensors = xp, {}, {}

    def __call__(self, value: Any) -> Any:
        match value:
            case torch.Tensor():
                if id(value) not in self.tensors:
                    self.tensors[id(value)] = self.tensor(value)
                return self.tensors[id(value)]
            case torch.Size():
                return self.xp.Size(value)
            case tuple() | list():
                return type(value)(map(self, value)) if type(value) in (tuple, list) else value
            case dict():
                return {key: self(item) for key, item in value.items()}
            case slice():
                return slice(self(value.start), self(value.stop), self(value.step))
            case torch.dtype() | torch.layout() | torch.memory_format() | torch.device() | torch.Generator():
                return value if self.xp is torch else self.constant(value)
            case torch.nn.Module():
                raise LeftOut("a module of torch as an argument")
            case complex():
                raise LeftOut("complex numbers")
        return value

    def constant(self, value: Any) -> Any:
        if isinstance(value, torch.device):
            if value.type not in ("cpu", "meta"):
                raise LeftOut(f"device {value.type}")
            return rl.device(value.type)
        if isinstance(value, torch.Generator):
            return rl.Generator().set_state(rl.from_numpy(value.get_state().numpy()))
        name = str(value).removeprefix("torch.")
        ours = rl.strided.strided_layout if name == "strided" else getattr(rl, name, None)
        if ours is None or (isinstance(value, torch.dtype) and not isinstance(ours, rl.dtype)):
            raise LeftOut(name)
        return ours

    def tensor(self, value: torch.Tensor) -> Any:
        if value.layout is not torch.strided:
            raise LeftOut(str(value.layout).removeprefix("torch."))
        if value.device.type == "meta":
            return self.xp.empty_strided(
                tuple(value.shape), value.stride(), dtype=self(value.dtype), device=self(value.device)
            )
        if value.is_conj() or value.is_neg():
            raise LeftOut("conjugate and negative views")
        memory = value.untyped_storage()
        if memory.data_ptr() not in self.storages or not memory.nbytes():
            copy = torch.empty(memory.nbytes(), dtype=torch.uint8)
            copy.untyped_storage().copy_(memory)
            self.storages[memory.data_ptr()] = (
                copy.untyped_storage() if self.xp is torch else rl.UntypedStorage.of(copy.numpy())
            )
        storage, sizes, strides = self.storages[memory.data_ptr()], tuple(value.shape), value.stride()
        if self.xp is torch:
            with torch.no_grad():
                return torch.empty(0, dtype=value.dtype).set_(storage, value.storage_offset(), sizes, strides)
        return rl.Tensor(storage, sizes, strides, value.storage_offset(), self.constant(value.dtype))


# ------------------------------------------------------------------------------------------------------------
# Running and comparing


def attempt(program: Callable) -> Any:
    """Return a program's result, or the error that it raises. Random numbers begin from the same seed in both frameworks."""
    try:
        with warnings.catch_warnings(), torch.random.fork_rng([]):
            warnings.simplefilter("ignore")
            torch.default_generator.manual_seed(SEED)
            rl.manual_seed(SEED)
            return program()
    except Exception as error:
        return error


def in_torch(x: rl.Tensor) -> torch.Tensor:
    if x.dtype is rl.bfloat16:  # numpy has no such type
        return torch.from_numpy(x._array.copy().view(np.int16)).view(torch.bfloat16).reshape(tuple(x.shape))
    return torch.from_numpy(x.numpy().copy()).reshape(tuple(x.shape))


def difference(ours: Any, theirs: Any, arguments: Sequence[tuple], values: bool) -> str:
    """In a few words where two results differ; "" if they agree. `arguments` are the tensors given, in pairs."""
    if isinstance(theirs, torch.Tensor):
        if not isinstance(ours, rl.Tensor):
            return f"a {type(ours).__name__} instead of a tensor"
        return difference_of_tensors(ours, theirs, arguments, values)
    if isinstance(theirs, (list, tuple)) and not isinstance(theirs, torch.Size):
        if not isinstance(ours, (list, tuple)) or len(ours) != len(theirs):
            return f"{type(ours).__name__} of another length than {len(theirs)}"
        differences = (difference(*pair, arguments, values) for pair in zip(ours, theirs))
        return next(filter(None, differences), "")
    if isinstance(theirs, torch.dtype):
        return "" if repr(ours) == repr(theirs).replace("torch", "rushlight") else f"{ours}, not {theirs}"
    if isinstance(theirs, torch.Size):
        return "" if tuple(ours) == tuple(theirs) else f"{ours}, not {theirs}"
    if isinstance(theirs, float) and isinstance(ours, float):
        return "" if not values or _close(torch.tensor(ours), torch.tensor(theirs)) else f"{ours}, not {theirs}"
    return "" if type(ours) is type(theirs) and (ours == theirs or not values) else f"{ours!r}, not {theirs!r}"


def difference_of_tensors(ours: rl.Tensor, theirs: torch.Tensor, arguments: Sequence[tuple], values: bool) -> str:
    if tuple(ours.shape) != tuple(theirs.shape):
        return f"shape {tuple(ours.shape)}, not {tuple(theirs.shape)}"
    if ours.dtype.name != str(theirs.dtype).removeprefix("torch."):
        return f"dtype {ours.dtype.name}, not {theirs.dtype}"
    if ours.device.type != theirs.device.type:
        return f"device {ours.device}, not {theirs.device}"
    places = [_place(tensor, [pair[i] for pair in arguments]) for i, tensor in enumerate((ours, theirs))]
    if places[0] != places[1]:
        return f"on the memory of argument {places[0]}, not {places[1]}"
    ways = [(tensor.stride(), tensor.storage_offset()) for tensor in (ours, theirs)]
    if ways[0] != ways[1]:
        return f"strides and offset {ways[0]}, not {ways[1]}"
    if values and theirs.device.type != "meta" and not _close(in_torch(ours), theirs):
        return f"values {in_torch(ours).flatten()[:4].tolist()}..., not {theirs.flatten()[:4].tolist()}..."
    return ""


def _place(tensor: Any, arguments: list) -> int | None:
    """Which argument's memory a result lies in."""
    address = tensor.untyped_storage().data_ptr()
    places = (i for i, tensor in enumerate(arguments) if address and tensor.untyped_storage().data_ptr() == address)
    return next(places, None)


def _close(ours: torch.Tensor, theirs: torch.Tensor) -> bool:
    theirs = theirs.detach()
    if torch.equal(ours, theirs):
        return True
    # One rounding in bfloat16, as the bound for float16 is one in float16. torch's own bound for bfloat16 is two.
    bounds = {"rtol": 8e-3, "atol": 1e-5} if theirs.dtype is torch.bfloat16 else {}
    try:
        assert_close(ours, theirs, equal_nan=True, **bounds)
    except AssertionError:
        return False
    return True


# ------------------------------------------------------------------------------------------------------------
# Forms of an operator


@dataclass
class Form:
    """One way to call an operator on both frameworks: `call(xp, function, args, kwargs)`."""

    name: str
    ours: Callable
    theirs: Callable
    out: str = ""  # how the tensors given as `out` are laid out


def forms(entry: Any, name: str, report: Report) -> Iterator[Form]:
    """The forms that both frameworks have. What torch alone has is noted in the report."""
    if name == entry.name:
        function, method, inplace = entry.get_op(), entry.method_variant, entry.inplace_variant
    else:
        alias = next(known for known in entry.aliases if known.name == name)
        function, method, inplace = alias.op, alias.method_variant, alias.inplace_variant
    counterpart = on_rushlight(function, name)
    if counterpart is None:
        report.absent.add("function")
    else:
        yield Form("function", counterpart, function)
    for form, variant in ("method", method), ("in place", inplace):
        if variant is None or variant is function:
            continue
        short = getattr(variant, "__name__", "")
        own = getattr(rl.Tensor, short, None) if hasattr(torch.Tensor, short) else on_rushlight(variant, name)
        if own is None:
            report.absent.add(form)
        else:
            yield Form(form, own, variant)
    if entry.supports_out and counterpart is not None:
        if has_out(name) or "out" in inspect.signature(counterpart).parameters:
            yield Form("out=, empty", counterpart, function, out="empty")
            yield Form("out=, transposed", counterpart, function, out="transposed")
        else:
            report.absent.add("out=")
    python = [("operator", entry.operator_variant), ("operator in place", entry.inplace_operator_variant)]
    for form, variant in python:
        if variant is None or name != entry.name:
            continue
        if hasattr(rl.Tensor, f"__{variant.__name__.strip('_')}__"):
            yield Form(form, variant, variant)
        else:
            report.absent.add(form)


def has_out(name: str) -> bool:
    name = name.rpartition(".")[2].removeprefix("special_")
    return any(
        full_name.partition(".")[0] == f"aten::{name}"
        and any(a.kwarg_only and a.is_written for a in op.schema.arguments)
        for full_name, op in list(operators.items())
        if name in full_name
    )


def samples(entry: Any, dtype: torch.dtype, count: int | None) -> Iterator[tuple[Any, tuple, dict, bool]]:
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i, sample in enumerate(entry.sample_inputs("cpu", dtype, requires_grad=False)):
            if count is not None and i >= count:
                return
            yield sample.input, tuple(sample.args), dict(sample.kwargs), bool(sample.broadcasts_input)


def settle_ties(ours: Any, theirs: Any, given: torch.Tensor, dim: int) -> None:
    """Where both chose different elements, but equal ones, ours gets torch's indices."""
    mine, real = (result[-1] if isinstance(result, (list, tuple)) else result for result in (ours, theirs))
    if not real.dim() or tuple(mine.shape) != tuple(real.shape) or not isinstance(mine, rl.Tensor):
        return
    mine, real = (x if x.dim() == given.dim() else x.unsqueeze(dim) for x in (mine, real))
    indices = in_torch(mine)
    distinct = bool((indices.sort(dim)[0].diff(dim=dim) > 0).all())
    if distinct and torch.equal(given.gather(dim, indices), given.gather(dim, real)):
        mine.copy_(rl.from_numpy(real.numpy()))


def compare(form: Form, input: Any, args: tuple, kwargs: dict, values: bool, ties: int | None = None) -> str:
    """Run one sample in one form on both frameworks. Returns the difference, "" for none; raises `LeftOut`."""
    theirs_carry, ours_carry = Carrier(torch), Carrier(rl)
    theirs_args, ours_args = ([carry(argument) for argument in (input, *args)] for carry in (theirs_carry, ours_carry))
    theirs_kwargs, ours_kwargs = theirs_carry(kwargs), ours_carry(kwargs)
    if form.out:
        results = attempt(lambda: form.theirs(*theirs_args, **theirs_kwargs))
        if not isinstance(results, (torch.Tensor, list, tuple)):
            return ""  # an error, which the function's own form has seen
        outs = laid_out(results, form.out)
        theirs_kwargs["out"], ours_kwargs["out"] = theirs_carry(outs), ours_carry(outs)
    theirs = attempt(lambda: form.theirs(*theirs_args, **theirs_kwargs))
    ours = attempt(lambda: form.ours(*ours_args, **ours_kwargs))
    if isinstance(ours, NotImplementedError) and "rushlight leaves out" in str(ours):
        raise LeftOut(str(ours).partition("rushlight leaves out ")[2].partition(";")[0])
    if isinstance(theirs, Exception) or isinstance(ours, Exception):
        if type(ours) is type(theirs):
            return ""
        return f"{_in_words(ours)}, not {_in_words(theirs)}"
    if ties is not None:
        settle_ties(ours, theirs, theirs_args[0], kwargs.get("dim", (theirs_args[ties : ties + 1] or [-1])[0]))
    pairs = [(ours_carry.tensors[key], theirs_carry.tensors[key]) for key in theirs_carry.tensors]
    different = difference(ours, theirs, pairs, values)
    written = (difference_of_tensors(*pair, [pair], values) for pair in pairs)
    return different or next((f"argument afterwards: {change}" for change in written if change), "")


def laid_out(results: Any, how: str) -> Any:
    """Tensors to be given as `out` for these results: with no elements, or of their sizes with dimensions in reverse order."""
    if isinstance(results, (list, tuple)):
        return tuple(laid_out(result, how) for result in results)
    if how == "empty":
        return torch.empty(0, dtype=results.dtype)
    reverse = tuple(reversed(range(results.dim())))
    return torch.empty([results.shape[d] for d in reverse], dtype=results.dtype).permute(reverse)


def _in_words(result: Any) -> str:
    if isinstance(result, Exception):
        return f"{type(result).__name__}: {str(result).strip().splitlines()[0][:150] if str(result).strip() else ''}"
    return f"a {type(result).__name__}"


def parity(name: str, count: int | None = None, dtypes: Sequence[torch.dtype] = DTYPES) -> Report:
    """Compare one operator on the first `count` samples of each dtype of each of its entries; all, if None."""
    report = Report()
    for entry in database()[name]:
        values = entry.name not in VALUES_APART and name not in VALUES_APART
        variant = f" ({entry.variant_test_name})" if entry.variant_test_name else ""
        ways = list(forms(entry, name, report))
        for dtype in dtypes:
            if dtype not in entry.dtypes:
                continue
            for input, args, kwargs, broadcasts in samples(entry, dtype, count):
                for form in ways:
                    if form.name in ("in place", "operator in place") and (
                        broadcasts or not isinstance(input, torch.Tensor)
                    ):
                        continue  # torch says so of the sample
                    if form.name in ("method", "operator") and not isinstance(input, torch.Tensor):
                        continue
                    if form.name.startswith("operator") and kwargs:
                        continue  # there is no place for them
                    try:
                        if (name, form.name) in FORMS_APART:
                            raise LeftOut(FORMS_APART[name, form.name])
                        different = compare(form, input, args, kwargs, values, TIES.get(name))
                    except LeftOut as reason:
                        report.left_out[str(reason)] += 1
                        continue
                    if not different:
                        report.agree += 1
                    else:
                        report.disagree.append(
                            f"{form.name}{variant} of {_shown((input, *args), kwargs)}\n      {different}"
                        )
    return report


def _shown(args: tuple, kwargs: dict) -> str:
    def show(value: Any) -> str:
        if isinstance(value, torch.Tensor):
            plain = value.is_contiguous()
            return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}" + (
                "" if plain else f"/{value.stride()}"
            )
        if isinstance(value, (list, tuple)):
            return f"({', '.join(map(show, value))})"
        return repr(value)

    return ", ".join([*map(show, args), *(f"{key}={show(value)}" for key, value in kwargs.items())])


# ------------------------------------------------------------------------------------------------------------
# The table


def compared_names() -> list[str]:
    """The operators of rushlight that torch's database knows."""
    return [name for name in public_names() if name in database()]


def uncompared_names() -> list[str]:
    """The others, less the in-place forms of those that it knows."""
    known = database()
    forms = {f"{name.rpartition('.')[2]}_" for name in known}
    return [name for name in public_names() if name not in known and name.rpartition(".")[2] not in forms]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="operators, as torch's database names them; all, if none")
    parser.add_argument("--verbose", action="store_true", help="every disagreement, not the first three of each")
    parser.add_argument("--count", type=int, help="samples of each dtype of each entry; all, unless given")
    parser.add_argument("--dtype", type=lambda name: getattr(torch, name), help="one, instead of the usual four")
    options = parser.parse_args()
    try:
        database()
    except ImportError as error:
        sys.exit(f"torch's sample inputs cannot be read: {error}. Do: pip install expecttest")
    if unknown := [name for name in options.names if name not in database()]:
        sys.exit(f"torch's database has no {', '.join(unknown)}")
    total, left_out = Counter(), Counter()
    for name in options.names or compared_names():
        report = parity(name, options.count, [options.dtype] if options.dtype else DTYPES)
        runs = report.agree + len(report.disagree)
        notes = [f"{report.left_out.total()} left out"] if report.left_out else []
        notes += [f"without {', '.join(sorted(report.absent))}"] if report.absent else []
        notes += ["no values"] if name in VALUES_APART else []
        mark = " " if not report.disagree else "x"
        print(f"{mark} {name:40} {report.agree:5} of {runs:5} {'; '.join(notes)}", flush=True)
        for line in report.disagree if options.verbose else report.disagree[:3]:
            print(f"    {line}")
        total.update(agree=report.agree, runs=runs, operators=1, whole=not report.disagree)
        left_out += report.left_out
    print(
        f"\n{total['agree']} of {total['runs']} agree; {total['whole']} of {total['operators']} operators agree on everything"
    )
    print("left out:", ", ".join(f"{count} for {reason}" for reason, count in left_out.most_common()) or "nothing")
    if not options.names:
        print("not in torch's database:", ", ".join(uncompared_names()))


if __name__ == "__main__":
    main()
