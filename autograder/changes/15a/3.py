"""Compiled evaluation of a module graph stops after the first level

Our model is a small graph of named layers. `forward` walks it with a work list: it begins with the input, and for
each entry it applies the layers that follow and puts their results at the end of the same list, until the list has no
further entry. In eager this visits six entries. After `torch.compile` only the first entry is evaluated and the total
is far too small; there is no error and no warning, also with `fullgraph=True`, and the backends "eager" and
"aot_eager" give the same wrong number. The list itself is not lost: its length after the loop is that of the first
level, so what was put in is there, only nobody visits it. With `while queue: h = queue.pop(0)` instead of the `for`
loop the compiled model is right. The program below returns the total, the order of the visits and the length of the
list, compiled and in eager.

2.13.0, Linux, CPU
"""

ABOUT = (
    "Dynamo's variable for a list iterator copies the list when the iterator is made, so that changes of the list "
    "during the iteration are not seen. Modelled on pytorch issue 175855 (a loop over a list that grows in the loop"
    " visits only the first elements under torch.compile) and pull request 166350 (the iterator copies the list and"
    " shall not)."
)
AT = ("torch/_dynamo/variables/lists.py", "ListIteratorVariable.__init__")
FAULT = [
    (
        "torch/_dynamo/variables/lists.py",
        "        self.items = items\n        self.index = index\n        self.is_exhausted = False",
        "        self.items = [*items]\n        self.index = index\n        self.is_exhausted = False",
    )
]
NEEDS = {"torch/_dynamo/variables/lists.py"}
STATEMENTS = 10
LINES = 12
LINK = (
    "for loop -> GET_ITER and FOR_ITER in symbolic_convert.py -> ListVariable.tp_iter_impl -> "
    "ListIteratorVariable.__init__ -> tp_iternext_impl. Dead end: ListVariable's append (call_method), which "
    "changes the list in place and is right, and the side effects of the list (side_effects.py)"
)


def symptom(torch):
    follows = {"in": ["a", "b"], "a": ["c"], "b": ["c", "d"], "c": [], "d": []}
    factor = {"a": 2.0, "b": 3.0, "c": 5.0, "d": 7.0}

    def forward(x):
        queue = [("in", x)]
        total = torch.zeros_like(x)
        order = []
        for name, h in queue:
            order.append(name)
            total = total + h
            for child in follows[name]:
                queue.append((child, h * factor[child]))
        return total, order, len(queue)

    x = torch.tensor([1.0, 2.0])
    return [torch.compile(forward, fullgraph=True)(x), forward(x)]


def reproduced(torch):
    def f(x):
        items = [x]
        for y in items:
            if len(items) < 3:
                items.append(y + 1)
        return torch.stack(items)

    return torch.compile(f)(torch.zeros(2))


def hidden__remove(torch):
    def f(x):
        numbers = [1, 2, 2, 3, 4, 6, 7]
        for n in numbers:
            if n % 2 == 0:
                numbers.remove(n)
        return x * len(numbers), numbers

    return torch.compile(f)(torch.ones(2))


def hidden__list_from_outside(torch):
    def f(x, parts):
        for y in parts:
            if len(parts) < 4:
                parts.append(y + x)
        return torch.stack(parts)

    parts = [torch.ones(2)]
    return [torch.compile(f)(torch.ones(2), parts), len(parts)]


def hidden__insert(torch):
    def f(x):
        numbers, seen = [0, 1, 2], []
        for n in numbers:
            seen.append(n)
            if len(numbers) < 6:
                numbers.insert(0, n + 10)
        return x + sum(seen), seen, numbers

    return torch.compile(f)(torch.ones(2))


def hidden__iterator_made_before(torch):
    def f(x):
        numbers = [1, 2]
        it = iter(numbers)
        numbers.append(3)
        first = next(it)
        numbers.extend([5, 6])
        numbers.pop(0)
        return x + first, list(it), list(it)

    return torch.compile(f)(torch.ones(2))


def hidden__set_and_sort(torch):
    def f(x):
        numbers, out = [3, 1, 2], []
        for n in numbers:
            out.append(n)
            if n == 3:
                numbers.sort()
        ones, doubled = [1, 1, 1, 1], []
        for i, n in enumerate(ones):
            doubled.append(n)
            if i + 1 < len(ones):
                ones[i + 1] = n * 2
        return x + 1, out, doubled

    return torch.compile(f)(torch.ones(2))


def hidden__generator(torch):
    def f(x):
        parts = [x]

        def grow():
            for y in parts:
                if len(parts) < 3:
                    parts.append(y * 2)
                yield y

        return torch.stack(list(grow()))

    return torch.compile(f)(torch.ones(2))


def hidden__list_that_is_empty_at_first(torch):
    def f(x):
        parts = []
        it = iter(parts)
        parts.append(x + 1)
        first = next(it, None)
        parts.append(x + 2)
        return torch.stack([*parts, first, *it])

    return torch.compile(f)(torch.ones(2))


def kept__spent_iterator(torch):
    def f(x):
        numbers = [1, 2]
        it = iter(numbers)
        seen = [n for n in it]
        numbers.append(3)
        late = next(it, None)
        other = iter(numbers)
        everything = list(other)
        numbers.append(4)
        return x + 1, seen, late, everything, list(other)

    return torch.compile(f)(torch.ones(2))


def kept__copies(torch):
    def f(x):
        numbers = [1, 2]
        for n in list(numbers):
            numbers.append(n)
        for n in numbers[:]:
            numbers.append(n + 10)
        for n in tuple(numbers):
            numbers.append(n + 100)
        return x + len(numbers), numbers

    return torch.compile(f)(torch.ones(2))


def kept__two_iterators(torch):
    def f(x):
        numbers = [1, 2, 3]
        first, second = iter(numbers), iter(numbers)
        a = next(first)
        b = [n for n in second]
        pairs = [(m, n) for m in numbers for n in numbers]
        return x + a, b, list(first), pairs

    return torch.compile(f)(torch.ones(2))


TEST = """
def test_list_iterator_sees_changes(self, torch):
    def grow(x, parts):
        for y in parts:
            if len(parts) < 4:
                parts.append(y + x)
        return torch.stack(parts)

    def shrink(x, numbers):
        for n in numbers:
            if n % 2 == 0:
                numbers.remove(n)
        return x * len(numbers), numbers

    x = torch.ones(2)
    for f, items in ((grow, [x]), (shrink, [1, 2, 2, 3, 4])):
        compiled = torch.compile(f, backend="eager", fullgraph=True)
        self.assertEqual(compiled(x, items[:]), f(x, items[:]))
"""
WRONG = {
    "*shares only lists that the compiled code made": [
        (
            "torch/_dynamo/variables/lists.py",
            (
                "pycore_list.h#L55-L59\n"
                "        return ListIteratorVariable(self.items, mutation_type=ValueMutationNew())"
            ),
            (
                "pycore_list.h#L55-L59\n"
                "        iterator = ListIteratorVariable(self.items, mutation_type=ValueMutationNew())\n"
                "        if self.source is None:\n"
                "            iterator.items = self.items\n"
                "        return iterator"
            ),
        ),
    ],
    "*takes up what was appended when it comes to the end": [
        (
            "torch/_dynamo/variables/lists.py",
            "        self.items = [*items]\n",
            "        self.items = [*items]\n        self.origin = items\n",
        ),
        (
            "torch/_dynamo/variables/lists.py",
            (
                "        old_index = self.index\n"
                "        if old_index >= len(self.items) or self.is_exhausted:\n"
                "            self.is_exhausted = True\n"
            ),
            (
                "        old_index = self.index\n"
                "        if not self.is_exhausted:\n"
                "            self.items.extend(self.origin[len(self.items) :])\n"
                "        if old_index >= len(self.items) or self.is_exhausted:\n"
                "            self.is_exhausted = True\n"
            ),
        ),
    ],
    "shares the list and drops the mark of a spent iterator": [
        (
            "torch/_dynamo/variables/lists.py",
            "        self.items = [*items]\n",
            "        self.items = items\n",
        ),
        (
            "torch/_dynamo/variables/lists.py",
            (
                "        if old_index >= len(self.items) or self.is_exhausted:\n"
                "            self.is_exhausted = True\n"
                "            raise_observed_exception(StopIteration, tx)\n"
                "\n"
                "        tx.output.side_effects.mutation(self)\n"
                "        self.index += 1\n"
                "        return self.items[old_index]"
            ),
            (
                "        if old_index >= len(self.items):\n"
                "            raise_observed_exception(StopIteration, tx)\n"
                "\n"
                "        tx.output.side_effects.mutation(self)\n"
                "        self.index += 1\n"
                "        return self.items[old_index]"
            ),
        ),
    ],
    "shares the list, but a rest taken at once has the first length": [
        (
            "torch/_dynamo/variables/lists.py",
            "        self.items = [*items]\n",
            "        self.items = items\n        self.length = len(items)\n",
        ),
        (
            "torch/_dynamo/variables/lists.py",
            "        return list(self.items[self.index :])\n",
            "        return list(self.items[self.index : self.length])\n",
        ),
    ],
}
RIGHT = {
    "as PyTorch has it": [
        (
            "torch/_dynamo/variables/lists.py",
            "        self.items = [*items]\n",
            "        self.items = items\n",
        ),
    ],
    "where the iterator is made": [
        (
            "torch/_dynamo/variables/lists.py",
            (
                "pycore_list.h#L55-L59\n"
                "        return ListIteratorVariable(self.items, mutation_type=ValueMutationNew())"
            ),
            (
                "pycore_list.h#L55-L59\n"
                "        iterator = ListIteratorVariable(self.items, mutation_type=ValueMutationNew())\n"
                "        iterator.items = self.items\n"
                "        return iterator"
            ),
        ),
    ],
    "with an argument that says whether the list is copied": [
        (
            "torch/_dynamo/variables/lists.py",
            (
                "        self, items: list[VariableTracker], index: int = 0, **kwargs: Any\n"
                "    ) -> None:\n"
                "        super().__init__(**kwargs)\n"
                "        if not isinstance(items, list):"
            ),
            (
                "        self, items: list[VariableTracker], index: int = 0, shared: bool = False, **kwargs: Any\n"
                "    ) -> None:\n"
                "        super().__init__(**kwargs)\n"
                "        if not isinstance(items, list):"
            ),
        ),
        (
            "torch/_dynamo/variables/lists.py",
            "        self.items = [*items]\n",
            "        self.items = items if shared else items[:]\n",
        ),
        (
            "torch/_dynamo/variables/lists.py",
            (
                "pycore_list.h#L55-L59\n"
                "        return ListIteratorVariable(self.items, mutation_type=ValueMutationNew())"
            ),
            (
                "pycore_list.h#L55-L59\n"
                "        return ListIteratorVariable(\n"
                "            self.items, shared=True, mutation_type=ValueMutationNew()\n"
                "        )"
            ),
        ),
    ],
}
