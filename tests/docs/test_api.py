"""The pages of the API show the source of an entry, without what the entry says already."""

import ast
import importlib
import inspect
import re
from pathlib import Path
from types import SimpleNamespace

import markdown
import pytest
import torch

import rushlight as rl

ROOT = Path(__file__).parents[2]
SOURCE = '''
class Box:
    """A box."""

    size: int

    def __init__(self, size):
        self.size = size

    @property
    def half(self):
        """Half of it."""
        # an odd size is cut
        return self.size // 2


class Row:
    """Fields only."""

    size: int


@cached
def double(x):
    """Twice x."""

    y = x  # kept

    return y + x


def empty():
    """Nothing."""
'''


@pytest.fixture(scope="module")
def api():
    from docs.programs.hooks import api

    return api


def test_a_source_leaves_out_docstrings_and_what_has_an_entry_or_is_in_the_signature(api):
    found = {node.name: node for node in ast.parse(SOURCE).body}
    texts = {name: api.body(node, SOURCE.splitlines()) for name, node in found.items()}
    assert texts == {
        "Box": "class Box:\n\n    size: int\n\n    def __init__(self, size):\n        self.size = size",
        "Row": "",
        "double": "@cached\ndef double(x):\n\n    y = x  # kept\n\n    return y + x",
        "empty": "",
    }
    half = api.body(found["Box"].body[3], SOURCE.splitlines())
    assert half == "@property\ndef half(self):\n    # an odd size is cut\n    return self.size // 2"


@pytest.mark.parametrize(
    ("repo", "edit", "address"),
    [
        ("https://git.example/a/b", "edit/main/docs/", "https://git.example/a/b/blob/main/"),
        ("https://git.example/a/b/", "-/edit/main/docs/", "https://git.example/a/b/-/blob/main/"),
        ("https://git.example/a/b", "https://other.example/docs/", "https://other.example/"),
        ("https://git.example/a/b", None, ""),
        ("", "edit/main/docs/", ""),
    ],
)
def test_a_source_links_to_its_file_where_the_repository_can_be_read(api, repo, edit, address):
    assert api.readable(SimpleNamespace(repo_url=repo, edit_uri=edit)) == address


def test_no_module_is_left_out_and_each_knows_its_file(api):
    found = [module for inside in api.modules(ROOT, "https://git.example/").values() for module in inside]
    assert len(found) > 200
    assert all((ROOT / module.file).samefile(module.path) for module in found)
    assert all(module.url == f"https://git.example/{module.file}" for module in found)


def test_the_page_of_a_module_has_every_public_name_that_it_defines(api):
    """Also functions that a maker of the module returns, and classes that are rows of a table or have computed names."""
    found = {module.name: module for inside in api.modules(ROOT).values() for module in inside}
    for name in (
        "nn.modules.stateless",
        "nn.functional",
        "nn.init",
        "distributions.formulas",
        "optim.rules",
        "optim.lr_scheduler",
        "return_types",
        "cuda",
    ):
        imported = importlib.import_module(f"rushlight.{name}")
        own = {
            attribute
            for attribute, value in vars(imported).items()
            if getattr(value, "__module__", "") == imported.__name__ and not attribute.startswith("_")
        } - {"no", "none", "nothing"}
        page = api.module_page(found[name], found, {}, {})
        assert {each for each in own if not re.search(rf'id="{each}"|#{each} }}', page)} == set(), name
    engine = re.findall(r"^##+ `(\w+)`", api.module_page(found["autograd.engine"], found, {}, {}), re.MULTILINE)
    assert engine[:3] == ["backward", "grad", "validate_outputs"]  # first what programs use
    assert "class ZeroPad2d(padding)" in api.module_page(found["nn.modules.stateless"], found, {}, {})
    assert '<span id="float"></span>' in api.module_page(found["c10.dtypes"], found, {}, {})
    also = {name for names in api.other_names().values() for name in names}
    assert {"Tensor.__add__", "Tensor.__neg__", "linalg.cholesky", "nn.functional.logsigmoid"} <= also


def test_a_function_is_there_once_with_its_operator_and_its_kernel(api):
    found = {module.name: module for inside in api.modules(ROOT).values() for module in inside}
    api.forms.clear()
    api.inner_forms(kernels := {"aten.native.linear.einsum": ["einsum"]}, found)
    assert api.forms["api/aten/native/linear.md"] == {"einsum"} and "op_einsum" in api.forms["api/operators.md"]
    entry = api.module_page(found["aten.functional"], found, {}, kernels).partition("#einsum }")[2].partition("##")[0]
    assert "operators.md#op_einsum" in entry and "aten/native/linear.md#einsum" in entry


def test_each_method_of_tensor_and_of_module_that_pytorch_documents_and_rushlight_has_is_in_the_reference(api):
    """A method may be an operator, in the class, or a function elsewhere that the class is given."""
    found = {module.name: module for inside in api.modules(ROOT).values() for module in inside}
    names = {place.rpartition(".")[0] for place in api.of_tensor()} & {*found} | {"aten.strided", "nn.modules.module"}
    text = "".join(api.module_page(found[name], found, {}, {}) for name in names)
    written = {"".join(groups) for groups in re.findall(r'<span id="([^"]+)">|\{ #(\S+) \}', text)}
    written |= {f"Tensor.{operator.partition('.')[0]}" for operator in api.load()}
    for known, own in (torch.Tensor, rl.Tensor), (torch.nn.Module, rl.nn.Module):
        documented = [
            name for name in dir(known) if name[0] != "_" and getattr(known, name).__doc__ and hasattr(own, name)
        ]
        methods = {f"{own.__name__}.{name}" for name in documented if not isinstance(getattr(own, name), bool)}
        assert len(methods) > 40 and methods - written == set()


def test_a_name_in_the_block_of_a_class_is_at_its_line_with_its_signature(api):
    """Also a name that a statement gives, and a function of another module."""
    found = {module.name: module for inside in api.modules(ROOT).values() for module in inside}
    text = api.module_page(found["nn.modules.module"], found, {}, {})
    html = markdown.markdown(text, extensions=["attr_list", "pymdownx.highlight", "pymdownx.superfences"])
    block = api.BLOCK.sub(api._at_lines, html).partition('id="Module">')[2].partition("</pre>")[0]
    lines = [re.sub("<[^>]+>", "", line) for line in block.split("\n") if 'id="Module.' in line]
    assert {"    half = partialmethod(to, float16)", "    def state_dict("} <= {*lines} and len(lines) > 20
    assert "../../../api/nn/modules/state_dict.md#state_dict" in text


def test_every_name_has_a_sentence_and_what_programs_call_the_place_in_pytorch(api):
    found = {module.name: module for inside in api.modules(ROOT).values() for module in inside}
    pages = {name: api.module_page(module, found, {}, {}) for name, module in found.items()}
    declared = api.operators(ROOT / "rushlight/aten/native/native_functions.yaml")
    kernels = {kernel for _, entries in declared for entry in entries for kernel in entry.kernels.values()}
    kernels = {kernel.partition("::")[0] + "." + kernel.partition("::")[2].partition(".")[0] for kernel in kernels}
    said = {
        f"{name}.{each}": api._says(definition, each)
        for name, module in found.items()
        for each, definition in module.definitions().items()
        if not re.match(r"_\d", each) and f"{name}.{each}" not in kernels
    }
    assert [name for name, sentence in said.items() if not sentence.partition("Source:")[0].strip()] == []
    assert api.kernel_sentence(["exp.out"]).startswith("Computes `exp(Tensor self) -> Tensor`. `exp`")
    made = {"aten.native.padding.reflection_pad1d": ["reflection_pad1d.out"]}
    padding = api.module_page(found["aten.native.padding"], found, {}, made)
    assert "Made by `_gathered`: The kernels" in padding and "[`aten/src/ATen/native/cpu/PaddingKernel.cpp`]" in padding
    reducer = pages["distributed.ddp"].partition("`Reducer` {")[2].partition("##")[0]
    assert "[`torch/csrc/distributed/c10d/reducer.cpp`]" in reducer
    assert "[`torch/nn/functional.py`]" in pages["nn.functional"].partition("`max_pool2d` {")[2].partition("##")[0]
    assert "`nn.functional.celu`" in pages["nn.modules.stateless"]
    assert re.search(r"\[`RMSprop`\]\(https://[^)]+/torch/optim/rmsprop\.py#L\d+\)", pages["optim.rules"])


def test_a_name_leads_to_the_line_that_defines_it_in_pytorch(api):
    """Also a name that a module of torch imports or assigns, one of several names of a value, a method, and an operator."""
    found = {module.name: module for inside in api.modules(ROOT).values() for module in inside}
    for module, name, known in (
        ("cuda", "device_count", torch.cuda.memory_allocated),
        ("cuda", "manual_seed", torch.cuda.empty_cache),
        ("aten.functional", "meshgrid", torch.functional.meshgrid),
        ("aten.native.random", "seed", torch.seed),
        ("aten.native.random", "fork_rng", torch.random.fork_rng),
        ("cuda.streams", "default_stream", torch.cuda.default_stream),
        ("utils.checkpoint", "CheckpointError", torch.utils.checkpoint.CheckpointError),
        ("nn.functional", "interpolate", torch.nn.functional.interpolate),
        ("nn.modules.module", "Module.register_buffer", torch.nn.Module.register_buffer),
        ("optim.optimizer", "Optimizer.add_param_group", torch.optim.Optimizer.add_param_group),
    ):
        source, first = inspect.getsourcelines(inspect.unwrap(known))
        line = first + next(i for i, text in enumerate(source) if text.lstrip().startswith(("def ", "class ")))
        file = Path(inspect.getsourcefile(inspect.unwrap(known))).relative_to(Path(torch.__file__).parents[1])
        page = api.module_page(found[module], found, {}, {})
        entry = page.partition(f"{{ #{name} }}")[2].partition("\n##")[0]
        assert f"[`{known.__name__}`]({api.url(file.as_posix())}#L{line})" in entry, name
    assert "#memory_allocated }" not in api.module_page(found["cuda"], found, {}, {})
    assert "IS_INPUT" not in found["aot.joint"].definitions()  # the statement below it assigns a string
    assert api.counterpart(found["nn.init"], "uniform")[1] == "uniform"
    assert api.counterpart(found["aten.strided"], "Tensor.item")[:2] == (api.NATIVE, "item")
    assert api.counterpart(found["aten.strided"], "Tensor.data_ptr")[:2] == (api.METHODS, "data_ptr")
    assert f"`max.dim`]({api.url(api.NATIVE)}#L" in api.module_page(found["return_types"], found, {}, {})


def test_the_overview_knows_a_name_by_what_programs_and_pytorch_call_it(api):
    text = "<p>In PyTorch: <code>torch/csrc/autograd/engine.cpp</code>. Left out: threads.</p>"
    text += '<h2 id="grad"><code>grad</code></h2>'
    text += "<p><strong>In PyTorch:</strong> <code>a/b.h</code>, <code>Engine::run</code>, <code>grad</code>.</p>"
    text += '<h2 id="execute"><code>execute</code></h2><p>Calls <code>grad</code>.</p>'
    known = "b.h,Engine.run,grad_outputs,retain_graph,create_graph,only_inputs,allow_unused,is_grads_batched,materialize_grads"
    assert api.listed(text, "api/autograd/engine.md") == ["=engine.cpp", f"grad!autograd={known}", "execute"]
    assert api.homes("op_linear", "api/operators.md") == ["nn.functional"]
    assert api.homes("Linear", "api/nn/modules/layers.md") == ["nn"] and "" in api.homes(
        "op_add-Tensor", "api/operators.md"
    )


def test_the_overview_knows_what_is_left_out_and_rushlight_has_none_of_it(api):
    listed = api.left_out((ROOT / "docs/left_out.md").read_text("utf-8"))
    names = [name for names in listed.values() for name in names.split()]
    assert {*listed} == {*api.LEFT_OUT.values()} and {"vmap", "view_as_real", "fft", "cartesian_prod"} < {*names}
    assert [name for name in names if "." not in name and hasattr(rl, name)] == []
    lacking = api.lacking(["op_linalg_qr functional_call!func"])
    assert {"linalg.eigh", "stft", "istft", "distributed.tensor.distribute_tensor", "nn.LPPool2d"} <= {*lacking}
    assert [name for name in lacking if name in ("func.functional_call", "add", "nn.Linear") or api.has(name)] == []


def test_an_example_is_code_and_no_quotation(api):
    module = next(iter(api.modules(ROOT).values()))[0]
    docstring = "Reads a row.\n\nArgs:\n    x: a list of functions.\n\n>>> row = x[0](y)\n>>> row\n3\n\nSource: `torch/nn/init.py`."
    shown = api.prose(docstring, module)
    assert "\n\n```pycon\n>>> row = x[0](y)\n>>> row\n3\n```\n\n" in shown


def test_the_rules_of_an_exercise_are_a_part_of_its_own(api):
    module = next(iter(api.modules(ROOT).values()))[0]
    docstring = "Reads.\n\nRules:\n    The first that applies:\n\n    1. a\n    2. b\n\nSource: `torch/nn/init.py`."
    assert "\n\n**Rules:**\n\nThe first that applies:\n\n1. a\n2. b\n\n" in api.prose(docstring, module)


def test_operators_can_be_filtered_by_what_their_tables_say(api):
    says = api.facts(api.load())
    assert says["add.Tensor"] == ["functional", "CPU", "Meta", "structured", "derivative"]
    assert says["add_.Tensor"][0] == "in-place"
    assert says["add_.Tensor"][-1] == "derivative"
    assert says["add.out"][0] == "out"
    assert says["expand"] == ["view", "CompositeExplicitAutograd", "derivative"]
    assert says["chunk"] == ["functional", "CompositeImplicitAutograd", "calls"]
    assert says["eq.Tensor"][-1] == "no-derivative"


def test_a_source_of_the_wheel_or_of_rushlight_does_not_lead_to_where_pytorchs_repository_has_nothing(api):
    places = {
        path: api.of_repository(path) for path in ("torchgen/packaged/autograd/derivatives.yaml", "ATen/Context.h")
    }
    assert [*places.values()] == ["tools/autograd/derivatives.yaml", "aten/src/ATen/Context.h"]
    assert api.is_own("torchgen/gen_autograd.py") and not api.is_own("torchgen/gen.py")
    assert not any(map(api.is_path, ["torchgen/gen_autograd.py", "aten/iterator.py", "torchgen/packaged/"]))


def test_the_python_of_pytorch_that_is_named_is_in_the_release(api):
    if f"v{torch.__version__.partition('+')[0]}" != api.TAG:
        pytest.skip(f"torch here is {torch.__version__}, not the release that the links lead to")
    texts = [*ROOT.glob("rushlight/**/*.py"), *ROOT.glob("docs/*.md"), *ROOT.glob("phases/*/reading.md")]
    texts += ROOT.glob("solutions/*/*.md")
    codes = {match[2] for path in texts for match in api.CODE.finditer(path.read_text("utf-8"))}
    paths = {path for path in map(api.of_repository, codes) if api.is_path(path)}
    assert not {path for path in paths if re.match(r"aten/(?!src)|.*packaged|.*/(generated|include/torch/csrc)/", path)}
    paths = {path for path in paths if path.startswith(("torch/", "torchgen/")) and path.endswith(".py")}
    assert len(paths) > 100
    assert [path for path in paths if not Path(torch.__file__).parents[1].joinpath(path).exists()] == []
