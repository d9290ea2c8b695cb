"""A captured function does what Python does: each program runs plainly, captured, and once more from the cache."""

# ruff: noqa: E501  (the programs are text)

import collections
import functools
import linecache
import math

import pytest
from sweep import in_one_test

import rushlight as rl

WORLD = """\
COUNT = 1
class C:
    cls_attr = 5
    def __init__(self, a, k): self.a = a; self.k = k; self.count = 0
    def method(self, x): return self.a * x + self.cls_attr
    @property
    def prop(self): return self.k * 2
    @staticmethod
    def static(x): return x + 1
    @classmethod
    def make(cls, x): return cls(x, 9)
class D(C):
    def method(self, x): return super().method(x) * 2
class V:
    def __init__(self, x): self.x = x
    def __add__(self, o): return V(self.x + o)
    def __radd__(self, o): return V(o + self.x)
    def __getitem__(self, i):
        if i > 2: raise IndexError
        return self.x[i]
    def __len__(self): return 3
    def __call__(self, y): return self.x * y
    def __contains__(self, i): return i == 3
class Ctx:
    def __init__(self, swallow=False): self.v = 2; self.log = []; self.swallow = swallow
    def __enter__(self): self.log.append('in'); return self
    def __exit__(self, t, e, b): self.log.append('out' if t is None else t.__name__); return self.swallow
P = collections.namedtuple('P', 'x y')
class M(rl.nn.Module):
    def __init__(self):
        super().__init__(); self.a = rl.nn.Linear(3, 3); self.b = rl.nn.Sequential(rl.nn.Linear(3, 2), rl.nn.ReLU()); self.register_buffer('z', rl.ones(2)); self.scale = 2.0
    def forward(self, x):
        if self.training: x = x * 2
        return self.b(self.a(x)) * self.scale + self.z
rl.manual_seed(0)
MOD = M()
def helper_breaks(x):
    y = x + 1
    rl.dynamo.graph_break()
    return y * 2
def helper_branch(x): return x * 2 if x.sum() > 0 else x - 1
def helper_raises(x): raise KeyError('missing')
def helper_many(a, b, c=0): return a * b + c
"""

PROGRAMS = """\
def simple(x, y): return (x + y).relu().sum() * 2
def loop(x):
    for i, (a, b) in enumerate(zip([1, 2, 3], (4, 5, 6))):
        if i == 1: continue
        x = x * a + b
    else:
        x = x - 1
    return x
def while_loop(x):
    n = 0
    while True:
        n += 1
        if n > 4: break
        x = x + n
    return x, n
def comprehension(x): return [x * i for i in range(3) if i % 2 == 0], {i: x + i for i in (1, 2)}, {i // 2 for i in range(5)}, sum(x * j for j in range(3)), tuple(i for i in 'abc')
def fstring(x): return f"{x.shape[0]:>3} {x.dtype} {'a'!r} {1.5:.2f}", x + 1
def closure(x):
    n = 2
    def inner(t, k=3, *, m=4):
        nonlocal n
        n += 1
        return t * n + k + m
    return inner(x) + inner(x, m=1), n
def returns_closure(x):
    y = x * 2
    def inner(t): return t + y
    return inner(x), inner
def star(*args, **kw): return sum(args) * kw.get('k', 1), len(args), sorted(kw)
def try_except(x, n):
    try:
        if n == 0: raise ValueError("zero")
        y = [1, 2, 3][n]
    except ValueError as e:
        return x * 2, str(e)
    except (IndexError, KeyError):
        return x * 3, "index"
    else:
        x = x + y
    finally:
        x = x - 1
    return x, "none"
def rows(x):
    rows = kept = [x]
    rows += x * 2
    return len(kept), rows[-1] + 1
def shifts(n): return (n << 2) >> 1, 3 << n
def named(x): return x[None].max(axis=0), rl.amax(x, axis=0, keepdims=True)
class Truth:
    def __init__(self, value): self.value = value
    def __bool__(self): return self.value
def truth(x, value):
    x = x + 1
    return x if Truth(value) else -x
def truth_of_bool(x, value): return x + 1 if bool(Truth(value)) and not not Truth(value) else x - 1
def breaking(x):
    y = x.sin()
    rl.dynamo.graph_break()
    return y.cos()
def branch(x):
    if x.sum() > 0: y = x * 2
    else: y = x - 2
    return y + 1
def branch_and(x, f): return x * 2 if f and x.sum() > 0 or not f else x
def item(x):
    n = x.sum().item()
    return x * n, float(x[0]), int(x[1])
def containers(x, l, d):
    l.append(x + 1); l.extend([x, 2]); l[0] = 5; d['new'] = l[-2] * 2; d.pop('old', None); d.setdefault('z', []).append(3)
    del l[0]
    a, *b, c = l
    return a, b, c, {**d, 'q': 1}, [*l, 1], len(d), list(d), 'new' in d, l.pop()
def objects(x):
    c = C(x, 3)
    c.k += 1
    c.extra = x
    return c.method(x), c.prop, C.static(x), C.make(x).k, isinstance(c, C), c.k, hasattr(c, 'zip'), getattr(c, 'nope', 7), c
def existing(x, o):
    o.count += 1
    o.last = x * o.count
    return o.method(x) + o.last
def gens(x):
    def g(n):
        for i in range(n): yield x * i
    return list(g(3)), next(iter(g(2)))
def breaking_call(x): return helper_breaks(x * 2) + 1
def breaking_nested(x):
    a = [helper_breaks(x), x]
    return a[0] + a[1]
def in_loop_break(x):
    for i in range(3):
        x = x + 1
        helper_breaks(x)
    return x
def lambdas(x): return (lambda a, b=2: a * b)(x), list(map(lambda v: v + 1, [x, 1])), sorted([3, 1, 2], key=lambda v: -v), max([1, 5, 3]), min(3, 2), any([0, 1]), all([]), list(reversed([1, 2])), list(filter(None, [0, 1]))
def strings(x): return "a,b".split(","), "x".join(["1", "2"]), "%d" % 3, "{}".format(4), x.shape[0] * "ab", str(12), int("3"), float("2.5") * x
def chained(x): return x if 0 < x.shape[0] <= 3 else x * 0, None if x is None else 1, x.shape == (3,), (1, 2) < (1, 3)
def inplace(x):
    y = x.clone()
    y += 1; y *= 2; y[0] = 7; y[1:] = y[1:] * 2
    y.add_(1).mul_(2)
    return y, y is y.add_(0)
def no_grad_block(x, w):
    with rl.no_grad():
        a = x * w
    b = x * w
    return a.requires_grad, b.requires_grad, a, b
def no_grad_break(x, w):
    with rl.no_grad():
        a = x * w
        rl.dynamo.graph_break()
        c = a * w
    return c.requires_grad, (x * w).requires_grad, c
def assertion(x):
    assert x.shape[0] == 3, "bad"
    return x
def asserts(x):
    assert x.shape[0] == 4, f"bad {x.shape[0]}"
    return x
def err(x): return x + rl.ones(7)
def user_error(x):
    try: return helper_raises(x)
    except KeyError as e: return x, e.args
def print_it(x):
    y = x + 1
    print(end='')
    z = y * 2
    print(end='')
    return z + y
def glob(x):
    global COUNT
    COUNT = COUNT + 1
    return x * COUNT
def defaults(x, a=[1], b=None):
    b = b or {}
    return x + a[0], b
def walrus(x): return (n := x.shape[0]) + n, x * n
def match_size(x, n):
    if n == 1: return x
    elif n == 2: return x * 2
    return x * 3
def ctx_user(x):
    with Ctx() as c:
        y = x * c.v
    return y, c.log
def ctx_raise(x):
    with Ctx(True) as c:
        y = x * 2
        raise ValueError("in")
    return y, c.log
def dict_iter(d): return sum(v for k, v in d.items() if k != 'skip'), [k for k in d], list(d.values())
def nested_list(l): return l[0][1] + l[1]['a'], l
def namedtup(p): return p.x + p.y, p._replace(x=p.y) if False else P(p.y, 1), p[0]
def unpack(x):
    a, b, c = x
    return a + b * c
def slicing(x, n): return x[:n], x[n:], x[..., None], x[None], x[-1], x[::2], [1, 2, 3][:n]
def recursion(x, n): return x if n == 0 else recursion(x * 2, n - 1)
def reassign(l): l[0], l[1] = l[1], l[0]; return l
def same_twice(x, y): return x is y, x + y
def dunder(x):
    v = V(x)
    return (v + 1).x, (2 + v).x, v[0], len(v), [i for i in v][:1], bool(v), v(x), 3 in v
def partial_(x): return functools.partial(match_size, n=2)(x)
def math_(x): return math.sqrt(4) * x, math.pi, abs(-2), round(2.567, 1), divmod(7, 2), 7 // 2, -7 % 3, 2 ** 3, 1 << 3, ~5
def delete(x):
    y = x + 1
    del x
    try: return x
    except UnboundLocalError: return y
def type_(x): return type(x) is rl.Tensor, isinstance(x, rl.Tensor), type(3).__name__, callable(len), isinstance(x.shape, tuple)
def sets(x): s = {1, 2}; s.add(3); s |= {4}; return s, 2 in s, s & {1, 9}, x
def enum_(x): return x * 2 if True else 0, not x.shape, bool(()), x.dim() and x.numel()
def finally_(x, log):
    try:
        log.append(1)
        return x * 2
    finally:
        log.append(2)
def dup(x):
    y = x + 1
    return y, y, [y], {'a': [y]}
def alias_list(x):
    l = [x]; m = l; m.append(x * 2)
    return l, m, l is m
def try_break(x):
    try:
        y = x * 2
        helper_breaks(y)
        z = y[0] / 0 if x.shape[0] else None
        raise KeyError('k')
    except KeyError as e:
        return x + 1, e.args
def reraise(x):
    try:
        try: raise KeyError('a')
        except KeyError: raise
    except KeyError as e: return x, e.args[0]
def raise_from(x): raise ValueError("v", 3)
def star_call(x): return helper_many(*[x, 1], **{'c': 2})
def gen_break(x): return sum(helper_breaks(v) for v in [x, x * 2])
def set_attr_fn(x):
    def f(): return 1
    f.tag = x * 2
    return f.tag
def ordered(x):
    d = collections.OrderedDict(); d['b'] = x; d['a'] = x + 1
    e = collections.defaultdict(list); e['k'].append(x)
    return d, e, dict(e), list(d)
def ternary_none(x, y=None): return x if y is None else x + y
def early(x):
    if x.shape[0] > 2:
        if x.sum() > 100: return x
        x = x * 3
    return x - 1
def two_items(x): return x[0].item() + x[1].item(), x * 2
def inner_branch(x): return helper_branch(x) * helper_branch(-x)
def list_mult(x): return [x] * 2 + [1] * 2, (1,) * 3, [0] * x.shape[0]
def in_place(x, l, s, d):
    m, t, c = [x], (x, 1), frozenset({1, 2})
    kept = m, t, c, l, s, d
    m *= 2; t *= 2; c &= {2}; l *= 2; s -= {1}; s ^= {5}; d |= {2: x}; d |= [(3, 4)]
    return kept, m, t, c, x * len(s)
def super_(x): return D(x, 1).method(x)
def module(x): return MOD(x)
def nonlocal_break(x):
    n = 0
    def inc():
        nonlocal n
        n += 1
    inc()
    rl.dynamo.graph_break()
    inc()
    return x * n
def cell_loop(x):
    fs = []
    for i in range(3): fs.append(lambda t, i=i: t * i)
    return [f(x) for f in fs]
def swap_args(a, b): return helper_many(c=a, a=b, b=1)
def tensors_in_dict_keys(x): d = {x: 1}; return d[x]
def where_(x): return rl.where(x > 0, x, -x), rl.stack([x, x]), x.to(rl.float64), x.mean(), x.view(-1, 1).shape, x.t() if x.dim() == 2 else x
def with_grad(w, x):
    loss = (w * x).sum()
    g, = rl.autograd.grad(loss, [w])
    return g, loss.detach()
"""

CALLS = [  # a function, its arguments, and how many graphs its first call makes
    ("simple", "rl.ones(3), rl.ones(3)", 1),
    ("loop", "T()", 1),
    ("while_loop", "T()", 1),
    ("comprehension", "T()", 1),
    ("fstring", "T()", 1),
    ("closure", "T()", 1),
    ("returns_closure", "T()", 1),
    ("star", "T(), T(), k=2", 1),
    ("try_except", "T(), 0", 1),
    ("try_except", "T(), 1", 1),
    ("try_except", "T(), 7", 1),
    ("rows", "T()", 1),
    ("shifts", "rl.tensor([1, 2])", 1),
    ("named", "T()", 1),
    ("truth", "T(), True", 1),
    ("truth", "T(), False", 1),
    ("truth", "T(), None", 1),
    ("truth", "T(), 1", 1),
    ("truth_of_bool", "T(), True", 1),
    ("truth_of_bool", "T(), None", 0),
    ("truth_of_bool", "T(), 'a'", 0),
    ("breaking", "T()", 2),
    ("branch", "T()", 2),
    ("branch", "-T()", 2),
    ("branch_and", "T(), True", 2),
    ("branch_and", "T(), False", 1),
    ("item", "T()", 3),
    ("containers", "T(), [1, 2], {'old': 1, 'z': [1]}", 1),
    ("objects", "T()", 1),
    ("existing", "T(), C(T(), 1)", 1),
    ("gens", "T()", 1),
    ("breaking_call", "T()", 4),
    ("breaking_nested", "T()", 3),
    ("in_loop_break", "T()", 2),
    ("lambdas", "T()", 1),
    ("strings", "T()", 1),
    ("chained", "T()", 0),
    ("inplace", "T()", 1),
    ("no_grad_block", "T(), T().requires_grad_()", 1),
    ("no_grad_break", "T(), T().requires_grad_()", 2),
    ("assertion", "T()", 0),
    ("asserts", "T()", 0),
    ("err", "T()", 1),
    ("user_error", "T()", 0),
    ("print_it", "T()", 3),
    ("glob", "T()", 1),
    ("defaults", "T()", 1),
    ("walrus", "T()", 1),
    ("match_size", "T(), 1", 0),
    ("match_size", "T(), 2", 1),
    ("ctx_user", "T()", 1),
    ("ctx_raise", "T()", 1),
    ("dict_iter", "{'a': T(), 'skip': 1, 'b': T()}", 1),
    ("nested_list", "[[1, T()], {'a': T()}]", 1),
    ("namedtup", "P(T(), 2)", 1),
    ("unpack", "T()", 1),
    ("slicing", "T(), 1", 1),
    ("recursion", "T(), 4", 1),
    ("reassign", "[T(), 1]", 0),
    ("same_twice", "(lambda t: t)(T()), T()", 1),
    ("dunder", "T()", 1),
    ("partial_", "T()", 0),
    ("math_", "T()", 1),
    ("delete", "T()", 1),
    ("type_", "T()", 0),
    ("sets", "T()", 0),
    ("enum_", "T()", 1),
    ("finally_", "T(), []", 1),
    ("dup", "T()", 1),
    ("alias_list", "T()", 1),
    ("try_break", "T()", 4),
    ("reraise", "T()", 0),
    ("raise_from", "T()", 0),
    ("star_call", "T()", 1),
    ("gen_break", "T()", 1),
    ("set_attr_fn", "T()", 1),
    ("ordered", "T()", 1),
    ("ternary_none", "T()", 0),
    ("ternary_none", "T(), T()", 1),
    ("early", "T()", 2),
    ("two_items", "T()", 3),
    ("inner_branch", "T()", 5),
    ("list_mult", "T()", 0),
    ("in_place", "T(), [1, 2], {1, 2}, {1: 2}", 1),
    ("super_", "T()", 1),
    ("module", "T()", 1),
    ("nonlocal_break", "T()", 1),
    ("cell_loop", "T()", 1),
    ("swap_args", "T(), T()", 1),
    ("tensors_in_dict_keys", "T()", 0),
    ("where_", "T()", 1),
    ("with_grad", "T().requires_grad_(), T()", 1),
]


def seen(value):
    if isinstance(value, rl.Tensor):
        return "tensor", str(value.dtype), tuple(value.shape), value.requires_grad, value.detach().tolist()
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [seen(item) for item in value]
    if isinstance(value, dict):
        return type(value).__name__, [(seen(key), seen(item)) for key, item in value.items()]
    if isinstance(value, (int, float, str, bool, type(None), set, frozenset, range)):
        return type(value).__name__, repr(value)
    if hasattr(value, "__dict__") and not callable(value):
        return type(value).__name__, seen(vars(value))
    return type(value).__name__


def world():
    text = WORLD + PROGRAMS
    linecache.cache["<programs>"] = len(text), None, text.splitlines(True), "<programs>"
    space = {"rl": rl, "math": math, "collections": collections, "functools": functools}
    space["T"] = lambda: rl.tensor([1.0, 2.0, 3.0])
    exec(compile(text, "<programs>", "exec"), space)
    return space


def run(function, arguments, space):
    space["COUNT"] = 1
    args, kwargs = eval(f"(lambda *args, **kwargs: (args, kwargs))({arguments})", space)
    try:
        result = seen(function(*args, **kwargs))
    except Exception as error:
        result = type(error).__name__, str(error)
    return result, seen(args), seen(kwargs), space["COUNT"], rl.is_grad_enabled()


@in_one_test
@pytest.mark.parametrize(("name", "arguments", "count"), CALLS)
def test_it_gives_and_changes_what_python_gives_and_changes(name, arguments, count):
    plain = world()
    wanted = run(plain[name], arguments, plain)
    graphs = []

    def collect(gm, example_inputs):
        graphs.append(gm)
        return gm.forward

    space = world()
    rl.dynamo.reset()
    compiled = rl.compile(space[name], backend=collect)
    assert run(compiled, arguments, space) == wanted
    assert len(graphs) == count
    assert run(compiled, arguments, space) == wanted
    assert len(graphs) == count  # the second call needs no new one
    rl.dynamo.reset()
