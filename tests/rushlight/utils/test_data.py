"""Datasets, samplers, collating and loading: whatever torch makes of it, rushlight makes of it, with the same numbers by chance."""

import collections
import copy
import itertools
import multiprocessing
import os
import pickle
import random
import subprocess
import sys
import time
import types
import warnings

import numpy as np
import pytest
import torch
from both import agree, outcome
from hypothesis import given
from hypothesis import strategies as st
from sweep import in_one_test, sweep, swept

import rushlight as rl
from rushlight.c10 import fast_paths
from rushlight.utils import data
from rushlight.utils.data import worker

Point = collections.namedtuple("Point", "x y")
OBJECT = object()


def tree(value):
    """Containers with their types, tensors as dtype, shape and elements."""
    if isinstance(value, rl.Tensor | torch.Tensor):
        return "tensor", str(value.dtype).rpartition(".")[2], tuple(value.shape), repr(value.tolist())
    if isinstance(value, np.ndarray):
        return "array", value.dtype.str, repr(value.tolist())
    if isinstance(value, collections.abc.Mapping):
        return type(value).__name__, [(key, tree(each)) for key, each in value.items()], sorted(vars_of(value))
    if isinstance(value, (list, tuple, collections.UserList)):
        return type(value).__name__, [tree(each) for each in value]
    return type(value).__name__, repr(value)


def vars_of(value):
    return [name for name in getattr(value, "__dict__", ()) if not name.startswith("_")]


def same(program, *args):
    agree(lambda xp: tree(program(xp, *args)))


# ------------------------------------------------------------------------------------------------------------
# Datasets


class Squares(data.Dataset):
    def __init__(self, length=10):
        self.length = length

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        if not 0 <= index < self.length:
            raise IndexError(index)
        return index * index


def test_a_tensor_dataset_gives_a_tuple_of_elements():
    def program(xp):
        dataset = xp.utils.data.TensorDataset(xp.arange(6).view(3, 2), xp.arange(3))
        return [dataset[1], dataset[-1], dataset[1:], dataset[[2, 0]], len(dataset)]

    same(program)
    same(lambda xp: xp.utils.data.TensorDataset(xp.zeros(3), xp.zeros(2)))
    same(lambda xp: xp.utils.data.TensorDataset(xp.zeros(3), xp.zeros(()))[0])


TENSORS = {
    "plain": lambda xp: [xp.arange(12.0).view(6, 2), xp.arange(6)],
    "views": lambda xp: [xp.arange(12.0).view(6, 2).t(), xp.arange(4)[2:]],
    "without elements": lambda xp: [xp.zeros(4, 0)],
    "that require grad": lambda xp: [xp.ones(4, 2).requires_grad_()],
}


@pytest.mark.parametrize("sampler", [[0, 1], [1, -2, 1], [True], [0, 9]])
@pytest.mark.parametrize("tensors", TENSORS)
def test_a_batch_of_a_tensor_dataset_is_that_of_its_samples(tensors, sampler):
    def program(xp):
        dataset = xp.utils.data.TensorDataset(*TENSORS[tensors](xp))
        (batch,) = xp.utils.data.DataLoader(dataset, 3, sampler=sampler)
        return [(each, each.stride(), each._is_view(), type(each.grad_fn).__name__) for each in batch]

    same(program)
    with fast_paths.disabled("utils"):
        same(program)


@given(st.lists(st.integers(0, 4), max_size=5), st.integers(-15, 15))
def test_datasets_behind_one_another_are_found_by_index(lengths, index):
    def program(xp):
        dataset = xp.utils.data.ConcatDataset([range(10 * i, 10 * i + n) for i, n in enumerate(lengths)])
        return [len(dataset), dataset.cumulative_sizes, dataset[index]]

    same(program)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=5).filter(any))
def test_every_sample_of_datasets_behind_one_another_is_found(lengths):
    parts = [[(number, i) for i in range(length)] for number, length in enumerate(lengths)]
    dataset, samples = data.ConcatDataset(parts), sum(parts, [])
    assert [dataset[i] for i in range(len(samples))] == samples
    assert [dataset[i - len(samples)] for i in range(len(samples))] == samples


def test_datasets_add_up():
    def program(xp):
        D = xp.utils.data

        class Stream(D.IterableDataset):
            def __iter__(self):
                return iter("abc")

            def __len__(self):
                return 3

        subset = D.Subset(range(10, 20), [3, 1, 4])
        both = subset + D.Subset(range(3), [0])
        chained = Stream() + Stream()
        nested = D.Subset(D.Subset(range(10, 20), [3, 1, 4]), [2, 2])
        return [
            list(itertools.islice(both, 4)), list(chained), len(chained), subset[1], subset.__getitems__([2, 0]),
            nested.__getitems__([0, 1]), outcome(lambda _: D.ConcatDataset([Stream()]), xp), outcome(lambda _: D.Dataset()[0], xp),
        ]  # fmt: skip

    same(program)


@given(
    st.integers(0, 12),
    st.lists(st.integers(0, 6), max_size=4)
    | st.lists(st.sampled_from([0.1, 0.2, 0.5, 0.3, 0.25, 0.0, 1, -0.5, 1.5, 0.7]), max_size=10),
)
def test_splits_have_the_lengths_that_torch_gives_them(length, lengths):
    def program(xp):
        parts = xp.utils.data.random_split(range(length), lengths)
        assert sorted(i for part in parts for i in part.indices) == list(range(length))
        return [len(part) for part in parts]

    same(program)


def test_an_empty_part_by_fraction_is_a_warning_and_a_generator_repeats_a_split():
    with pytest.warns(UserWarning):
        data.random_split(range(1), [0.5, 0.5])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data.random_split(range(2), [2, 0]), data.random_split(range(4), [0.5, 0.5])
    first, second = (data.random_split(range(20), [5, 15], rl.Generator().manual_seed(3)) for _ in range(2))
    assert [part.indices for part in first] == [part.indices for part in second]


# ------------------------------------------------------------------------------------------------------------
# Samplers


@given(st.integers(0, 12), st.integers(1, 5), st.booleans())
def test_batches_are_cut_as_in_torch(length, batch_size, drop_last):
    def program(xp):
        sampler = xp.utils.data.BatchSampler(range(length), batch_size, drop_last)
        return [list(sampler), list(sampler), len(sampler)]

    same(program)


def test_batches_take_no_more_than_they_need():
    def program(xp, drop_last):
        taken = itertools.count()
        batches = iter(xp.utils.data.BatchSampler(taken, 3, drop_last))
        out = [next(batches), next(batches)]
        return [out, next(taken)]

    same(program, False)
    same(program, True)
    asked = []
    batches = data.batches((asked.append(i) or i for i in itertools.count()), 2, False)
    assert asked == []
    assert next(batches) == [0, 1] and asked == [0, 1]


@given(st.integers(0, 12), st.integers(1, 5), st.integers(-1, 5), st.booleans())
def test_each_rank_takes_the_share_that_torch_gives_it(length, ranks, rank, drop_last):
    def program(xp):
        data = xp.utils.data.TensorDataset(xp.arange(length))
        sampler = xp.utils.data.distributed.DistributedSampler(data, ranks, rank, shuffle=False, drop_last=drop_last)
        return [list(sampler), len(sampler), sampler.total_size, sampler.set_epoch(2), sampler.epoch]

    same(program)


def test_the_ranks_shuffle_alike_and_differently_in_each_epoch():
    samplers = [data.DistributedSampler(range(10), 3, rank, seed=1) for rank in range(3)]
    first = [list(sampler) for sampler in samplers]
    assert {*first[0], *first[1], *first[2]} == {*range(10)} and first == [list(sampler) for sampler in samplers]
    samplers[0].set_epoch(1)
    assert list(samplers[0]) != first[0]
    with pytest.raises(ValueError, match="process group"):
        data.DistributedSampler(range(10))


def test_samplers_refuse_what_torch_refuses():
    for arguments in ((range(3), 0, False), (range(3), 2.0, False), (range(3), True, False), (range(3), 2, 0)):
        same(lambda xp, arguments=arguments: list(xp.utils.data.BatchSampler(*arguments)))
    for options in (
        {}, {"replacement": 1}, {"num_samples": 0}, {"num_samples": -2}, {"num_samples": 2.0}, {"num_samples": 7}
    ):  # fmt: skip
        same(lambda xp, options=options: len(list(xp.utils.data.RandomSampler(range(3), **options))))
    same(lambda xp: len(xp.utils.data.RandomSampler([])))
    for arguments in (([1, 2], 0), ([1, 2], True), ([[1, 2]], 1), ([1, 2], 1, 1), ([1, 2], 3, False), ([0, 0], 1)):
        same(lambda xp, arguments=arguments: len(list(xp.utils.data.WeightedRandomSampler(*arguments))))
    same(lambda xp: list(xp.utils.data.Sampler()))


@given(st.integers(1, 9), st.integers(1, 80), st.booleans())
def test_random_samplers_draw_what_torchs_draw(length, count, replacement):
    def program(xp):
        xp.manual_seed(count)
        return list(xp.utils.data.RandomSampler(range(length), replacement, count)), xp.rand(1).item()

    same(program)


SAMPLERS = {
    "random": lambda D, generator: D.RandomSampler(range(50), generator=generator),
    "random, several rounds": lambda D, generator: D.RandomSampler(range(7), False, 23, generator),
    "random, with replacement": lambda D, generator: D.RandomSampler(range(50), True, 70, generator),
    "weighted": lambda D, generator: D.WeightedRandomSampler([1.0, 2.0, 0.0] * 9, 30, generator=generator),
    "weighted, without replacement": lambda D, generator: D.WeightedRandomSampler([1.0, 2.0] * 9, 9, False, generator),
    "subset": lambda D, generator: D.SubsetRandomSampler(range(50), generator),
    "batches": lambda D, generator: D.BatchSampler(D.RandomSampler(range(8), generator=generator), 4, False),
    "loader": lambda D, generator: Batches(D.DataLoader(range(20), 3, shuffle=True, generator=generator)),
    "loader with replacement": lambda D, generator: Batches(
        D.DataLoader(range(20), 3, sampler=D.RandomSampler(range(20), True, generator=generator))
    ),
    "split": lambda D, generator: [part.indices for part in D.random_split(range(20), [5, 15], generator)],
}


class Batches:
    def __init__(self, loader):
        self.loader = loader

    def __iter__(self):
        return (batch.tolist() for batch in self.loader)


@pytest.mark.parametrize("name", SAMPLERS)
@pytest.mark.parametrize("own_generator", [False, True])
def test_the_same_seed_gives_torchs_order(name, own_generator):
    def program(xp):
        xp.manual_seed(3)
        generator = xp.Generator().manual_seed(5) if own_generator else xp.default_generator
        sampler = SAMPLERS[name](xp.utils.data, generator if own_generator or name == "split" else None)
        epochs = [list(sampler) for _ in range(3)]
        return [epochs, [xp.randint(99, (3,), generator=each).tolist() for each in (generator, xp.default_generator)]]

    same(program)


# ------------------------------------------------------------------------------------------------------------
# Collating


class Noted(dict):
    def __init__(self, *args, note=None):
        super().__init__(*args)
        self.note = note


class Strange(dict):
    """It can neither be copied with other values nor made from them."""

    def __init__(self, a, b):
        super().__init__(a=a, b=b)

    def update(self, *_):
        raise TypeError("unchangeable")


def samples(xp):
    """Batches of everything."""
    leaf = xp.tensor([1.0, 2.0]).requires_grad_()
    return {
        "tensors": [xp.tensor([1, 2]), xp.tensor([3, 4])],
        "scalars": [xp.tensor(1.5), xp.tensor(2.5)],
        "unequal tensors": [xp.zeros(2), xp.zeros(3)],
        "promoted tensors": [xp.zeros(2), xp.zeros(2, dtype=xp.int64)],
        "recorded": [leaf, leaf * 2],
        "floats": [1.0, 2.0],
        "ints": [1, 2],
        "int and float": [1, 2.5],
        "float and int": [1.5, 2],
        "bools": [True, False],
        "strings": ["a", "bc"],
        "bytes": [b"a", b"b"],
        "None": [None, None],
        "sets": [{1}, {2}],
        "object": [OBJECT],
        "complex": [types.SimpleNamespace()],
        "arrays": [np.array([1.0, 2.0], np.float32), np.array([3.0, 4.0], np.float32)],
        "arrays of no dimension": [np.array(1), np.array(2)],
        "arrays of strings": [np.array(["a"]), np.array(["b"])],
        "arrays of objects": [np.array([None]), np.array([None])],
        "numpy floats": [np.float32(1), np.float32(2)],
        "numpy doubles": [np.float64(1), np.float64(2)],
        "numpy ints": [np.int32(1), np.int32(2)],
        "numpy bools": [np.bool_(True), np.bool_(False)],
        "numpy strings": [np.str_("a"), np.str_("b")],
        "dicts": [{"a": 1, "b": [2.0]}, {"b": [3.0], "a": 4}],
        "a key less": [{"a": 1, "b": 2}, {"a": 3}],
        "a key more": [{"a": 1}, {"a": 3, "b": 4}],
        "ordered": [collections.OrderedDict(a=1), collections.OrderedDict(a=2)],
        "noted": [Noted({"a": 1}, note="first"), Noted({"a": 2}, note="second")],
        "proxies": [types.MappingProxyType({"a": 1}), types.MappingProxyType({"a": 2})],
        "strange": [Strange(1, 2), Strange(3, 4)],
        "defaults": [collections.defaultdict(int, a=1), collections.defaultdict(int, a=2)],
        "tuples": [(1, "a"), (2, "b")],
        "lists": [[1, "a"], [2, "b"]],
        "unequal lists": [[1, 2], [3]],
        "unequal tuples": [(1,), (2, 3)],
        "empty lists": [[], []],
        "empty tuples": [(), ()],
        "empty dicts": [{}, {}],
        "deques": [collections.deque([1, 2]), collections.deque([3, 4])],
        "user lists": [collections.UserList([1, 2]), collections.UserList([3, 4])],
        "ranges": [range(2), range(2)],
        "named tuples": [Point(1, (2, 3)), Point(4, (5, 6))],
        "nested": [{"a": [(1.0, {"b": "x"})]}, {"a": [(2.0, {"b": "y"})]}],
        "wrong within": [{"a": [None]}, {"a": [None]}],
        "mixed": [1, "a"],
        "tensor and number": [xp.tensor(1), 2],
        "array and list": [np.array([1, 2]), [3, 4]],
        "one": [(1, 2.0)],
        "nothing": [],
        "a tuple of samples": ((1, 2.0), (3, 4.0)),
    }  # fmt: skip


@in_one_test
@pytest.mark.parametrize("name", list(samples(torch)))
def test_samples_are_collated_as_by_torch(name):
    same(lambda xp: xp.utils.data.default_collate(samples(xp)[name]))


@in_one_test
@pytest.mark.parametrize("name", list(samples(torch)))
def test_samples_are_converted_as_by_torch(name):
    same(lambda xp: xp.utils.data.default_convert(samples(xp)[name]))


def test_collating_leaves_the_samples_alone_and_lets_gradients_through():
    batch = [Noted({"a": [1]}, note="first"), Noted({"a": [2]}, note="second")]
    before = copy.deepcopy(batch)
    data.default_collate(batch)
    assert batch == before
    leaf = rl.zeros(2).requires_grad_()
    data.default_collate([leaf, leaf]).sum().backward()
    assert leaf.grad.tolist() == [2, 2]


# ------------------------------------------------------------------------------------------------------------
# Loading


OPTIONS = {
    "batch_size": st.sampled_from([1, 2, 3, 20, None, 0, -1]),
    "shuffle": st.sampled_from([None, False, True]),
    "sampler": st.sampled_from([None, [3, 1, 2], range(4)]),
    "batch_sampler": st.sampled_from([None, [[1, 2], [3]], [[]]]),
    "drop_last": st.booleans(),
    "num_workers": st.sampled_from([0, 0, 0, -1]),
    "timeout": st.sampled_from([0, 0, -1, 1]),
    "prefetch_factor": st.sampled_from([None, None, 2, -1]),
    "persistent_workers": st.booleans(),
    "collate_fn": st.sampled_from([None, list, repr]),
}


@given(st.fixed_dictionaries({}, optional=OPTIONS), st.booleans(), st.integers(0, 7))
def test_a_loader_takes_refuses_and_gives_what_that_of_torch_does(options, iterable, length):
    def program(xp):
        D = xp.utils.data

        class Stream(D.IterableDataset):
            def __iter__(self):
                return iter([(i, float(i)) for i in range(length)])

            def __len__(self):
                return length

        loader = D.DataLoader(Stream() if iterable else [(i, float(i)) for i in range(length)], **options)
        xp.manual_seed(length)
        batches = [tree(batch) for batch in loader]
        return [batches, len(loader), len(iter(loader)) if not iterable else 0, loader.batch_size, loader.drop_last]

    same(program)


def test_what_was_given_to_a_loader_stays():
    def program(xp):
        loader = xp.utils.data.DataLoader(range(3))
        names = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers", "timeout")
        return [outcome(lambda _, name=name: setattr(loader, name, 0), xp) for name in names]

    same(program)


def test_a_dataset_may_give_many_samples_at_once_and_a_loader_goes_on_after_an_error():
    def program(xp):
        class Many(xp.utils.data.Dataset):
            def __getitems__(self, indices):
                if 2 in indices:
                    raise KeyError("two")
                return [10 * i for i in indices]

            def __len__(self):
                return 6

        epoch = iter(xp.utils.data.DataLoader(Many(), 2))
        return [outcome(lambda _: next(epoch).tolist(), xp) for _ in range(4)]

    same(program)


@pytest.mark.parametrize("asked", ["never", "before", "between"])
@pytest.mark.parametrize("batch_size", [None, 2])
def test_an_iterable_dataset_with_more_than_its_length_is_a_warning_once_the_length_was_asked_for(batch_size, asked):
    def program(xp):
        class Stream(xp.utils.data.IterableDataset):
            def __iter__(self):
                return iter(range(6))

            def __len__(self):
                return 2

        loader = xp.utils.data.DataLoader(Stream(), batch_size)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            counts = []
            for _ in range(2):
                if asked == "before":
                    len(loader)
                for _ in loader:
                    counts.append(len(caught))
                    if asked == "between":
                        len(loader)
        return counts

    same(program)


def test_pinned_memory_without_an_accelerator_is_a_warning_and_an_epoch_cannot_be_pickled():
    def program(xp):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            epoch = iter(xp.utils.data.DataLoader(range(3), pin_memory=True))
        return [each.category.__name__ for each in caught], outcome(lambda _: pickle.dumps(epoch), xp)

    same(program)


@given(st.permutations(range(7)))
def test_results_are_put_in_order_as_soon_as_they_can_be(order):
    asked = []
    arrivals = ((asked.append(number) or number, f"result {number}") for number in order)
    for wanted, result in enumerate(worker.in_order(arrivals)):
        assert result == f"result {wanted}"
        assert len(asked) == max(order.index(number) for number in range(wanted + 1)) + 1


# ------------------------------------------------------------------------------------------------------------
# Workers: real processes, so these are few. `fork` is asked for, for the datasets are local.


class Odd(Exception):
    def __init__(self, one, two):
        super().__init__(one, two)


needs_fork = pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="there is no fork here")


def load(xp, dataset, *args, workers=2, **options):
    options.setdefault("multiprocessing_context", "fork")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of more workers than cores
        return xp.utils.data.DataLoader(dataset, *args, num_workers=workers, **options)


def children():
    return {child.pid for child in multiprocessing.active_children()}


@pytest.fixture(autouse=True)
def nothing_is_left_behind():
    before = children()
    yield
    assert children() <= before


@pytest.mark.sweep
@needs_fork
@pytest.mark.parametrize("workers", [1, 3])
def test_workers_keep_the_order_also_when_some_are_slow(workers):
    def program(xp):
        class Slow(xp.utils.data.Dataset):
            def __getitem__(self, index):
                time.sleep(0.1 if index in (0, 4) else 0)
                return {"x": xp.tensor([index, index], dtype=xp.float32), "name": str(index)}

            def __len__(self):
                return 11

        return [list(load(xp, Slow(), 2, workers=workers)), list(load(xp, Slow(), None, workers=workers))[-1]]

    same(program)


@needs_fork
def test_an_error_in_a_worker_is_raised_again_with_its_traceback_and_loading_goes_on():
    def program(xp):
        class Wrong(xp.utils.data.Dataset):
            def __getitem__(self, index):
                if index == 3:
                    raise KeyError("the third")
                if index == 5:
                    raise Odd(1, 2)
                return index

            def __len__(self):
                return 8

        epoch, out = iter(load(xp, Wrong())), []
        for _ in range(9):
            try:
                out.append(next(epoch).tolist())
            except StopIteration:
                out.append("the end")
            except Exception as error:
                text = str(error)
                out.append(
                    [type(error).__name__, text.partition("\n")[0], "in __getitem__" in text, "the third" in text]
                )
        return out

    same(program)


@needs_fork
def test_each_worker_knows_who_it_is_and_has_torchs_seeds():
    def program(xp):
        class Who(xp.utils.data.IterableDataset):
            def __iter__(self):
                info = xp.utils.data.get_worker_info()
                drawn = xp.rand(1).item(), np.random.rand(), random.random()
                yield info.id, info.num_workers, info.seed, *drawn, os.environ.get("MARK")

        def mark(worker_id):
            os.environ["MARK"] = f"worker {worker_id}"

        assert xp.utils.data.get_worker_info() is None
        loader = load(xp, Who(), None, worker_init_fn=mark, generator=xp.Generator().manual_seed(1))
        epochs = [list(loader), list(loader)]
        assert xp.utils.data.get_worker_info() is None and "MARK" not in os.environ
        return epochs

    same(program)


@pytest.mark.sweep
@needs_fork
@pytest.mark.parametrize("persistent_workers", [False, True])
def test_iterable_datasets_of_different_lengths_come_to_their_end_in_every_epoch(persistent_workers):
    def program(xp):
        class Stream(xp.utils.data.IterableDataset):
            def __iter__(self):
                info = xp.utils.data.get_worker_info()
                return iter(range(100 * info.id, 100 * info.id + 2 + 7 * info.id))

        loader = load(xp, Stream(), 2, persistent_workers=persistent_workers, drop_last=True)
        return [sorted(batch.tolist() for batch in loader) for _ in range(2)]

    same(program)


@needs_fork
def test_persistent_workers_stay_the_same_and_begin_anew():
    class Pid(Squares):
        def __getitem__(self, index):
            return index, os.getpid()

    loader = load(rl, Pid(20), persistent_workers=True)
    first = [tuple(each) for each in loader]
    next(iter(loader)), next(iter(loader))  # epochs that are given up
    second = [tuple(each) for each in loader]
    assert [int(i) for i, _ in second] == list(range(20))
    assert {int(pid) for _, pid in first} == {int(pid) for _, pid in second} <= children()
    del loader


@needs_fork
def test_a_worker_that_dies_or_does_not_answer_is_an_error():
    class Dies(Squares):
        def __getitem__(self, index):
            if index == 1:
                os._exit(1)
            return index

    class Sleeps(Squares):
        def __getitem__(self, index):
            time.sleep(30)

    for dataset, options, words in ((Dies(), {}, "exited unexpectedly"), (Sleeps(), {"timeout": 0.2}, "timed out")):
        epoch = iter(load(rl, dataset, workers=1, **options))
        with pytest.raises(RuntimeError, match=words):
            list(epoch)
        del epoch


@needs_fork
def test_what_cannot_be_sent_is_an_error_and_not_a_silence():
    class Functions(Squares):
        def __getitem__(self, index):
            return lambda: index

    class Recorded(Squares):
        def __getitem__(self, index):
            return rl.zeros(2).requires_grad_() * 2

    class Hidden(Squares):
        def __getitem__(self, index):
            raise type("Hidden", (Exception,), {})("of this process only")

    for dataset, error in ((Functions(), AttributeError), (Recorded(), RuntimeError), (Hidden(), RuntimeError)):
        with pytest.raises(error, match="in DataLoader worker process 0"):
            next(iter(load(rl, dataset, collate_fn=list)))


@needs_fork
def test_a_tensor_comes_back_as_it_was_sent():
    class Tensors(Squares):
        def __getitem__(self, index):
            x = rl.arange(6).view(2, 3)
            leaf = rl.ones(2, dtype=rl.float16).requires_grad_()
            return x[:, 1], x.t(), rl.zeros(0, 3), rl.tensor(True), leaf

    (sent,) = ([tree(each) for each in Tensors()[0]],)
    got = next(iter(load(rl, Tensors(), None)))
    assert [tree(each) for each in got] == sent and got[-1].requires_grad
    got[0].add_(1)


SCRIPT = """
import atexit, multiprocessing.util, os, sys, time
sys.path.insert(0, {root!r})
import rushlight as rl
class Slow(rl.utils.data.Dataset):
    def __len__(self): return 100
    def __getitem__(self, index): return index
if __name__ == "__main__":
    atexit.register(lambda: print([worker.is_alive() for worker in epoch._workers]))  # before multiprocessing ends
    loader = rl.utils.data.DataLoader(Slow(), num_workers=2, persistent_workers={persistent}, multiprocessing_context={method!r})
    epoch = iter(loader)
    next(epoch)
    print(*[worker.pid for worker in epoch._workers], flush=True)
    if {end!r} == "kill": os._exit(9)
    if {end!r} == "error": raise SystemExit(3)
"""


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@needs_fork
@pytest.mark.skipif(not os.path.exists("/proc/self"), reason="there is no /proc here")
@pytest.mark.parametrize("persistent", sweep([False, True], every=2))
@pytest.mark.parametrize("end, method", [("end", "fork"), ("error", "fork"), ("kill", "fork"), swept("end", "spawn")])
def test_no_worker_outlives_the_program(end, method, persistent, tmp_path):
    root = os.path.dirname(os.path.dirname(rl.__file__))
    (tmp_path / "program.py").write_text(SCRIPT.format(root=root, end=end, method=method, persistent=persistent))
    done = subprocess.run([sys.executable, tmp_path / "program.py"], capture_output=True, text=True, timeout=600)
    first, *rest = done.stdout.splitlines()
    pids = [int(pid) for pid in first.split()]
    assert len(pids) == 2 and done.stderr == ""
    assert rest == ([] if end == "kill" else ["[False, False]"])
    deadline = time.monotonic() + 300
    while any(map(is_running, pids)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(is_running, pids))


@pytest.mark.sweep
def test_importing_does_not_import_multiprocessing():
    code = "import sys, rushlight; print([m for m in ('multiprocessing', 'queue', 'random') if m in sys.modules])"
    root = os.path.dirname(os.path.dirname(rl.__file__))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=root, check=True)
    assert done.stdout.strip() == "[]"
