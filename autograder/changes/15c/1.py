"""RandomSampler: the order of the samples depends on whether the model has dropout

I compare two models on 2.13.0 (Linux, CPU), one with dropout and one without. To compare them fairly I call
`torch.manual_seed(0)` and draw the training indices from a `RandomSampler` over 5 samples with `num_samples=17`, so
that one epoch goes through the data three times and a bit. I expected that both models see the same indices in the
same order: after the seed, nothing else should matter for the sampler. They see the same first five, and then the
orders part. The program below compares the two orders; it should say True and says False.

What I tried: any call that draws a random number inside of the loop changes the order, also `torch.rand(1)`. With
`replacement=True` the two orders agree, and they agree too when I pass a `generator` of my own. With `num_samples`
left out there is no difference.
"""

ABOUT = (
    "Without replacement and without a generator of the user's, the permutations come from the global generator and "
    "not from the one that was seeded for this pass. Modelled on pytorch issue 52568 (randperm gets self.generator "
    "where the local generator is meant) and pull request 52956 (mends it). The proposed patch keeps the generator "
    "between passes, like pull request 63026, under which a user reports that seeding again no longer repeats an epoch."
)
AT = ("torch/utils/data/sampler.py", "RandomSampler.__iter__")
FAULT = [
    (
        "torch/utils/data/sampler.py",
        """                yield from torch.randperm(n, generator=generator).tolist()
            yield from torch.randperm(n, generator=generator).tolist()[
                : self.num_samples % n
            ]
""",
        """                yield from torch.randperm(n, generator=self.generator).tolist()
            yield from torch.randperm(n, generator=self.generator).tolist()[
                : self.num_samples % n
            ]
""",
    )
]
NEEDS = {"torch/utils/data/dataloader.py", "torch/utils/data/sampler.py"}
STATEMENTS = 5
LINES = 14
LINK = (
    "RandomSampler.__iter__ seeds a generator of its own, and torch.randperm gets self.generator, which is None: the "
    "global one. Dead end: the seed itself, which is drawn from the global generator and is right."
)


def symptom(torch):
    def order(model):
        torch.manual_seed(0)
        sampler = torch.utils.data.RandomSampler(range(5), num_samples=17)
        seen = []
        for index in sampler:
            model(torch.ones(4))
            seen.append(index)
        return seen

    plain = torch.nn.Identity()
    with_dropout = torch.nn.Dropout(0.5)
    return order(plain) == order(with_dropout)


def reproduced(torch):
    torch.manual_seed(0)
    list(torch.utils.data.RandomSampler(range(9)))
    return torch.rand(1)


def hidden__orders(torch):
    results = []
    for size, number in ((8, None), (8, 8), (5, 12), (6, 4), (1, 3)):
        torch.manual_seed(3)
        results.append(list(torch.utils.data.RandomSampler(range(size), num_samples=number)))
    return results


def hidden__numbers_drawn_afterwards(torch):
    results = []
    for size, number in ((50, None), (50, 120), (50, 7)):
        torch.manual_seed(3)
        list(torch.utils.data.RandomSampler(range(size), num_samples=number))
        results.append(torch.randint(1000, (3,)))
    return results


def hidden__rest_of_a_permutation(torch):
    def order(noise):
        torch.manual_seed(1)
        sampler = iter(torch.utils.data.RandomSampler(range(20), num_samples=30))
        seen = [next(sampler) for _ in range(20)]
        torch.rand(noise)
        return seen + list(sampler)

    return [order(0) == order(5), order(7)]


def hidden__shuffled_loader(torch):
    torch.manual_seed(2)
    loader = torch.utils.data.DataLoader(torch.arange(10), batch_size=4, shuffle=True)
    return [list(loader), list(loader)]


def hidden__two_passes_at_once(torch):
    torch.manual_seed(4)
    sampler = torch.utils.data.RandomSampler(range(3), num_samples=9)
    return [list(pair) for pair in zip(sampler, sampler)]


def kept__seeded_before_each_pass(torch):
    sampler = torch.utils.data.RandomSampler(range(12), num_samples=30)
    passes = []
    for seed in (1, 1, 2, 1):
        torch.manual_seed(seed)
        passes.append(list(sampler))
    return [passes[0] == other for other in passes]


def kept__passes_differ(torch):
    torch.manual_seed(0)
    sampler = torch.utils.data.RandomSampler(range(30))
    passes = [list(sampler) for _ in range(3)]
    return [passes[0] == passes[1], passes[1] == passes[2], [sorted(each) for each in passes], len(sampler)]


def kept__own_generator(torch):
    generator = torch.Generator().manual_seed(5)
    sampler = torch.utils.data.RandomSampler(range(6), num_samples=15, generator=generator)
    torch.manual_seed(0)
    first, second = list(sampler), list(sampler)
    generator.manual_seed(5)
    return [first, second, list(sampler) == first, sampler.generator is generator, torch.randint(1000, (3,))]


def kept__replacement(torch):
    torch.manual_seed(7)
    sampler = torch.utils.data.RandomSampler(range(10), replacement=True, num_samples=40)
    first = list(sampler)
    torch.manual_seed(7)
    return [first, list(sampler) == first, torch.randint(1000, (3,))]


TEST = """
def test_random_sampler_is_independent_of_the_global_generator(self, torch):
    sampler = torch.utils.data.RandomSampler(range(5), num_samples=17)
    def order(noise):
        torch.manual_seed(0)
        seen = []
        for index in sampler:
            seen.append(index)
            torch.rand(noise)
        return seen
    self.assertEqual(order(0), order(3))
    self.assertEqual(order(0), order(0))
    torch.manual_seed(0)
    list(sampler)
    after_many = torch.rand(1)
    torch.manual_seed(0)
    list(torch.utils.data.RandomSampler(range(2)))
    self.assertEqual(torch.rand(1), after_many)
"""
PATCH = "*keeps the generator that was seeded first for all passes"
PULL = """RandomSampler: use one private generator for the permutations

Without a `generator`, a pass makes a local one, but `torch.randperm` is called with `self.generator`, which is still
None, so the permutations come from the global generator and anything that draws in between changes them. This makes
the generator when it is first needed and stores it, so `self.generator` is what every branch uses, with and without
replacement. It also saves creating and seeding a new generator in each epoch.

Test plan: with `torch.manual_seed(0)`, a sampler with `range(5)` and `num_samples=17` gives the same 17 indices
whether or not `torch.rand(1)` is called in the loop. A sampler with a generator of the user's gives the same order as
before.
"""
WRONG = {
    "*keeps the generator that was seeded first for all passes": [
        (
            "torch/utils/data/sampler.py",
            """            generator = torch.Generator()
            generator.manual_seed(seed)
        else:
            generator = self.generator

        if self.replacement:
""",
            """            self.generator = torch.Generator()
            self.generator.manual_seed(seed)
        generator = self.generator

        if self.replacement:
""",
        )
    ],
    "*draws all permutations before the first index": [
        (
            "torch/utils/data/sampler.py",
            """            for _ in range(self.num_samples // n):
                yield from torch.randperm(n, generator=self.generator).tolist()
            yield from torch.randperm(n, generator=self.generator).tolist()[
                : self.num_samples % n
            ]
""",
            """            rounds = self.num_samples // n + 1
            orders = [torch.randperm(n, generator=self.generator) for _ in range(rounds)]
            yield from torch.cat(orders)[: self.num_samples].tolist()
""",
        )
    ],
    "the local generator for whole permutations only": [
        (
            "torch/utils/data/sampler.py",
            "                yield from torch.randperm(n, generator=self.generator).tolist()\n",
            "                yield from torch.randperm(n, generator=generator).tolist()\n",
        )
    ],
    "seeds with the seed of the program": [
        (
            "torch/utils/data/sampler.py",
            """            seed = int(torch.empty((), dtype=torch.int64).random_().item())
            generator = torch.Generator()
            generator.manual_seed(seed)
        else:
            generator = self.generator

        if self.replacement:
""",
            """            generator = torch.Generator()
            generator.manual_seed(torch.initial_seed())
        else:
            generator = self.generator

        if self.replacement:
""",
        ),
        (
            "torch/utils/data/sampler.py",
            """                yield from torch.randperm(n, generator=self.generator).tolist()
            yield from torch.randperm(n, generator=self.generator).tolist()[
""",
            """                yield from torch.randperm(n, generator=generator).tolist()
            yield from torch.randperm(n, generator=generator).tolist()[
""",
        ),
    ],
}
RIGHT = {
    "as PyTorch has it": [
        (
            "torch/utils/data/sampler.py",
            """                yield from torch.randperm(n, generator=self.generator).tolist()
            yield from torch.randperm(n, generator=self.generator).tolist()[
""",
            """                yield from torch.randperm(n, generator=generator).tolist()
            yield from torch.randperm(n, generator=generator).tolist()[
""",
        )
    ],
    "one loop over the lengths": [
        (
            "torch/utils/data/sampler.py",
            """            for _ in range(self.num_samples // n):
                yield from torch.randperm(n, generator=self.generator).tolist()
            yield from torch.randperm(n, generator=self.generator).tolist()[
                : self.num_samples % n
            ]
""",
            """            rounds, rest = divmod(self.num_samples, n)
            for length in [n] * rounds + [rest]:
                yield from torch.randperm(n, generator=generator).tolist()[:length]
""",
        )
    ],
    "all permutations before the first index, from the local generator": [
        (
            "torch/utils/data/sampler.py",
            """            for _ in range(self.num_samples // n):
                yield from torch.randperm(n, generator=self.generator).tolist()
            yield from torch.randperm(n, generator=self.generator).tolist()[
                : self.num_samples % n
            ]
""",
            """            rounds = self.num_samples // n + 1
            orders = [torch.randperm(n, generator=generator) for _ in range(rounds)]
            yield from torch.cat(orders)[: self.num_samples].tolist()
""",
        )
    ],
}
