"""The pages of the API: what each module of `rushlight` says of itself, by phase, with links to PyTorch's source.

Modules are read, not imported. The modules of the exercises are looked up, and so are names that no file has as a word, as far as
`import rushlight` brings them. A page begins with the module's docstring; then come its functions and classes in the order of the
file, under the headings of the file, first those that programs use, with signature, docstring and, folded, the source; but not
that of an exercise. An assigned name has an entry if a string below the assignment describes it. Operators have a page of their
own, from `native_functions.yaml`, which `javascripts/operators.js` filters, and so does `javascripts/names.js` a page with many
names. It filters the overview by the names of all pages. A path of PyTorch's repository, here and on every other page, becomes a
link to that file in the release `TAG`, and a name beside it to the line that defines it, where the installed torch has the file;
nothing is fetched. An entry whose name a module of torch has too leads to the line of the definition, also if that module imports
or assigns the name.
"""

from __future__ import annotations

import ast
import inspect
import json
import logging
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from inspect import cleandoc
from itertools import groupby, pairwise
from operator import attrgetter
from pathlib import Path
from textwrap import dedent, indent
from types import MappingProxyType
from urllib.parse import urljoin

import torchgen
import yaml
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

import rushlight
from autograder.model import number_of
from docs.programs.hooks.languages import LANGUAGE, words
from docs.programs.hooks.notebooks import Notebook, lists
from rushlight import Tensor
from rushlight.backends import PYTORCH
from rushlight.torchgen.gen import DUNDERS, PREFIX, Native, load
from rushlight.torchgen.gen_autograd import inplace_forms, load_derivatives

log = logging.getLogger("mkdocs.hooks.api")

MANY = 8  # names of a page that can be filtered
LONGEST = 96  # characters of a line
FILTER = (
    '<form class="filter names" role="search" aria-label="Names"><div><label for="filter-name">Show the names that contain</label>'
    '<input type="search" id="filter-name" placeholder="part of a name" autocomplete="off" spellcheck="false"></div>'
    '<output aria-live="polite"></output></form>'
)

TAG = f"v{PYTORCH}"
REPOSITORY = "https://github.com/pytorch/pytorch/"
ADDRESS = f"{REPOSITORY}{{}}/{TAG}/{{}}"
GENERATED = ("aten.generated", "autograd.generated")

# Which modules belong to a phase, in the order in which to read them. A package stands for all of its modules that no other
# name is nearer to.
PHASES = {
    "00": "on_torch.trace",
    "01": "aten.strided c10.storage c10.memory_formats c10.dtypes aten.native.views aten.native.creation "
    "aten.native.conversions aten.indexing aten.printing aten.dlpack course.breaks",
    "02": "c10 library return_types aten.functional amp.autocast_mode torchgen.gen _ops utils._python_dispatch",
    "03": "aten.iterator aten.structured aten.native.pointwise aten.native.elementary aten.native.reductions "
    "aten.native.linear_algebra aten.native.linear linalg aten.native.gather_scatter aten.native.advanced_indexing "
    "aten.native.tensor_shape aten.native.sorting aten.native.functional_forms "
    "utils.cpp_extension utils.child",
    "04": "autograd torchgen utils.checkpoint _C",
    "05": "nn aten optim amp cuda.amp distributions masked utils.data utils.deterministic serialization testing backends "
    "course.grammar",
    "06": "on_torch",
    "07": "_library fx dynamo compiler aot utils._logging utils._pytree",
    "08": "inductor",
    "09": "distributed multiprocessing utils course.reviews",
    "10": "ao export",
    "11": "profiler cuda utils.flop_counter utils.benchmark c10.cuda on_torch.memory autograd.input_buffer "
    "inductor.cudagraph_utils",
    "12": "course.corpus course.tokens course.gpt course.attention course.stream course.training course.sampling "
    "course.trained course.talk course.sentences course.as_torch __main__ course.head "
    "course.anatomy course.costs course.sharding course.serving course.bottleneck",
    "13": "clinic",
    "14": "aten.native.cuda on_torch.cuda_on_host on_torch.triton_on_host on_torch.gpu inductor.triton_templates",
    "15": "contribute",
    "Pictures": "course",
}

# For each page its names. `~` marks `forms`. After `!` come the modules from which programs take the name, `rushlight` itself as
# an empty one, and after `=` the names and files of PyTorch that the entry answers to, and its arguments. Those of the whole page
# come without a name. What rushlight leaves out is below the addresses that say so.
LEFT_OUT = {"": "../left_out.html", "Names that few programs use": "../left_out.html#names-that-few-programs-use"}
ALL = re.compile(r"^__all__(?:: [^=]+)? \+?= [\[(](.*?)[\])]", re.MULTILINE | re.DOTALL)
DESCRIBED = re.compile(r"^(\w+) = _add_docstr\(", re.MULTILINE)  # what C++ defines for a package
UNSEEN = {
    "testing",
    "onnx",
    "ao",
    "quantization",
}  # packages of torch that a page of what is left out names as a whole, or none
LEFT_OUT_NAME = re.compile(r"`torch\.([\w.]+)`|`(\w+)` \d")
NAMES = '<script type="application/json" id="names">{}</script>'
ANCHOR = re.compile(r'<h[23] id="([^"]+)"><code>|<span id="([^"]+)"></span>|<code [^>]*id="(op_[^"]+)"')

FILE = re.compile(r"(?:\w+/)*\w[\w.-]+\.(?:cpp|h|hpp|cc|cu|cuh|jinja|py|pyi|yaml|yml|md|in|txt|toml)")
FOLDER = re.compile(r"(?:aten|c10|functorch|test|tools|torch|torchgen)(?:/[\w-]+)*/?")
TOPS = ("aten/src", "c10/", "functorch/", "test/", "tools/", "torch/", "torchgen/")
PLACES = {  # where PyTorch's repository has what a wheel or a header names otherwise
    "ATen/": "aten/src/ATen/",
    "torchgen/packaged/ATen/": "aten/src/ATen/",
    "torchgen/packaged/autograd/": "tools/autograd/",
    "torch/torch.h": "torch/csrc/api/include/torch/torch.h",
}
NOWHERE = re.compile(r"torchgen/packaged\b|torch/include/|.*/generated/")  # what only a build or a wheel has
INLINE = re.compile(r"<(a|pre|h[1-6])\b.*?</\1>|<code>([\w./-]+)</code>", re.DOTALL)
CODE = re.compile(r"(`+)(.+?)\1", re.DOTALL)
EXAMPLE = re.compile(r"^[ ]*>>> .*(?:\n.+)*\n?", re.MULTILINE)
VERBATIM = re.compile(r"(?<=\n\n)(?:[ ]{4}.*\n?|\n)+")  # an indented block
SECTION = re.compile(
    r"^(Args|Attributes|Raises|Returns|Rules|Yields)(?: of the operator)?:\n((?:[ ]+.*\n?|\n)+)", re.MULTILINE
)
ENTRY = re.compile(r"^(\*{0,2}\w[\w, *]*|`[^`\n]+`)((?: \([\w `]+\))?): ", re.MULTILINE)
TABLE = re.compile(r"(?<=\n\n)(?:[ ]*\w+(?:, \w+)*[ ]{2,}\S.*\n){2,}")  # a name a line, and what it is
ROW = re.compile(r"^[ ]*(\w+(?:, \w+)*)[ ]{2,}(.*)", re.MULTILINE)
DOCSTRING = re.compile(r'"""(?:[^"\\]|\\.|"(?!""))*"""', re.DOTALL)
HEADING = re.compile(r"^# -{20,}\n# (.+(?:\n# .+)*)", re.MULTILINE)
PLAIN = re.compile(r'<span class="(?:n|o|p|w)">([^<]*)</span>')  # names and punctuation: half of the weight of a page
LINKED = re.compile(re.escape(f"]({ADDRESS.format('blob', '')}") + r"([^)#]+)\)")
FOLDED = re.compile(r'<div data-source="([\w.:]+)"></div>')
BLOCK = re.compile(  # of a class, and the places of its names
    r'(<h[23] id="([\w.]+)"(?:(?!</h).)*</h[23]>\s*<div class="highlight">(?:(?!</div>).)*</div>\s*)'
    r'(<p class="notes">(?:(?!</p>).)*</p>)',
    re.DOTALL,
)
HEADED = re.compile(r"(<h[1-3][^>]*><code>)([\w.]+)")
LEXER, FORMATTER = PythonLexer(), HtmlFormatter(nowrap=True)
CALLED = {
    "F": "`nn.functional.{}`",
    "functions": "the operator `{}`",
    "input": "`Tensor.{}`",
}  # what a row of a table calls
DEFINED = re.compile(
    r"^( *)(?:(?:async )?(def|class) (\w+)|(\w+)(?:: [^=\n]+)? = |(?<! )(if|elif|else|try|except)\b|(?<! )(?=\w))",
    re.MULTILINE,
)
IMPORT = re.compile(r"^from ([.\w]+) import (?:\(([^)]*)\)|([^(\n]*))", re.MULTILINE)
NATIVE, METHODS = "aten/src/ATen/native/native_functions.yaml", "tools/autograd/templates/python_variable_methods.cpp"
LISTED = {  # files that list what C++ defines for Python
    NATIVE: re.compile(r"^- func: (?=(\w+))([\w.]+)", re.MULTILINE),
    METHODS: re.compile(r"^(?:static )?PyObject ?\* ?THPVariable_(\w+)\(", re.MULTILINE),
}
CLASS = re.compile(r"^(?:enum )?(?:class|struct) (?:\w+ )*?(\w+)(?: final)?(?: : [^;{]*)? \{", re.MULTILINE)
STATEMENT = ast.Assign | ast.AnnAssign | ast.Expr | ast.For  # that defines names without `def` or `class`
DEFINITION = ast.FunctionDef | ast.ClassDef | STATEMENT


@dataclass
class Module:
    """A module of rushlight, as it is written."""

    name: str  # within rushlight: `inductor.ir`
    path: Path
    file: str  # within the repository
    url: str  # of the file, where the repository can be read

    @cached_property
    def source(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.source)

    @property
    def page(self) -> str:
        return f"api/{self.name.replace('.', '/')}.md"

    @property
    def docstring(self) -> str:
        first = DOCSTRING.match(self.source)  # a page of all modules needs no more of them, and a whole tree takes long
        return cleandoc(ast.literal_eval(first[0])) if first else ""

    def definitions(self, kernels: Collection[str] = ()) -> dict[str, DEFINITION]:
        """Public functions and classes, kernels that are made of others, what the module's own functions make, names with a string
        below their assignment, the classes that are rows of a table, and those whose names are computed. Of two with one name the
        last counts."""
        private, nodes = self.name.rpartition(".")[2].startswith("_"), {}
        for node, below in pairwise(self.tree.body):
            if (
                isinstance(node, STATEMENT)
                and isinstance(below, ast.Expr)
                and isinstance(getattr(below.value, "value", None), str)
            ):
                node.said = cleandoc(below.value.value)  # an attribute's docstring
        for node in self.tree.body:
            if isinstance(node, STATEMENT):
                names = assigned(node)
                if node in self.making or hasattr(node, "said"):
                    rows = [] if names else row_names(node, self.computed) or [f"_{node.lineno}"]
                    nodes |= {name: node for name in [*rows, *names] if rows or not name.startswith("_")}
                nodes |= {name: node for name in names if f"{self.name}.{name}" in kernels}
            elif isinstance(node, DEFINITION) and (
                private or not node.name.startswith("_") or f"{self.name}.{node.name}" in of_tensor()
            ):
                nodes[node.name] = node
        return nodes | {name: named_result(name, kind) for name, kind in self.computed.items() if name not in nodes}

    @cached_property
    def computed(self) -> dict[str, type]:
        """The public classes of the module, as far as it is imported here, whose names its file does not have."""
        own = getattr(sys.modules.get(f"rushlight.{self.name}"), "__dict__", {})
        kinds = {name: kind for name, kind in own.items() if isinstance(kind, type) and not name.startswith("_")}
        known = {getattr(node, "name", "") for node in self.tree.body}
        known |= {
            name for node in self.tree.body if isinstance(node, STATEMENT) for name in assigned(node) + row_names(node)
        }
        return {
            name: kind
            for name, kind in kinds.items()
            if name not in known and kind.__module__ == f"rushlight.{self.name}" and kind.__name__ == name
        }

    @cached_property
    def making(self) -> set[ast.stmt]:
        """The statements that call one of the module's own functions."""
        makers = {node.name for node in self.tree.body if isinstance(node, ast.FunctionDef)}
        return {
            node
            for node in self.tree.body
            if isinstance(node, STATEMENT)
            and any(
                isinstance(getattr(part, "func", None), ast.Name) and part.func.id in makers for part in ast.walk(node)
            )
        }

    def made_by(self, node: DEFINITION) -> str:
        """Which of the module's own functions returns what a statement assigns. What a private one says is said here, because it
        has no entry."""
        name = getattr(getattr(getattr(node, "value", None), "func", None), "id", "")
        maker = next((each for each in self.tree.body if isinstance(each, ast.FunctionDef) and each.name == name), None)
        said = maker and ast.get_docstring(maker)
        return "" if not said else f"Made by `{name}`: {said}" if name.startswith("_") else f"Made by `{name}`."

    def sections(self, kernels: Collection[str]) -> list[tuple[str, dict[str, DEFINITION]]]:
        """The definitions below each heading, which is the line below a rule; the first of all have none."""
        headings = HEADING.finditer(self.source)
        starts = {self.source.count("\n", 0, match.start()): match[1].replace("\n# ", " ") for match in headings}
        sections: dict[int, dict[str, DEFINITION]] = {}
        for name, node in self.definitions(kernels).items():
            above = max((line for line in starts if line < node.lineno), default=0)
            sections.setdefault(above, {})[name] = node
        return [(starts.get(line, ""), sections[line]) for line in sorted(sections)]

    @cached_property
    def lines(self) -> list[str]:
        return self.source.splitlines()

    def signature(self, definition: DEFINITION, name: str = "") -> str:
        """The signature of a definition. A statement, or the row of a name in it, is shown as it is written."""
        if isinstance(definition, STATEMENT):
            kind = getattr(sys.modules.get(f"rushlight.{self.name}"), name, None)
            if isinstance(kind, type) and (name in self.computed or ast.unparse(row(definition, name))):
                return f"class {name}{written_parameters(kind)}"
            return "\n".join(self.lines[definition.lineno - 1 : definition.end_lineno])
        return signature(definition, self.given(definition))

    def given(self, definition: DEFINITION) -> dict[str, Callable]:
        """The functions of other modules that a class has as methods under their own names, as `Module.state_dict`."""
        own = sys.modules.get(f"rushlight.{self.name}")
        values = _named(definition) if isinstance(definition, ast.ClassDef) else {}
        found = {name: getattr(own, name, None) for name, value in values.items() if name == value}
        return {name: value for name, value in found.items() if inspect.isfunction(value)}

    @property
    def public(self) -> list[str]:
        """The names that are written in its `__all__`."""
        lists = (
            node.value
            for node in self.tree.body
            if isinstance(node, ast.Assign) and "__all__" in ast.unparse(node.targets)
        )
        written = [item for value in lists if isinstance(value, (ast.List, ast.Tuple)) for item in value.elts]
        return [item.value for item in written if isinstance(item, ast.Constant)]

    @cached_property
    def files(self) -> dict[str, str]:
        """Files of PyTorch that the module names in full, by what they are called."""
        paths = (
            match[2] for match in CODE.finditer(self.source) if match[2].startswith(TOPS) and FILE.fullmatch(match[2])
        )
        return {path.rpartition("/")[2]: path for path in paths}


def assigned(node: STATEMENT) -> list[str]:
    """The names that a statement assigns."""
    targets = {ast.Assign: lambda: node.targets, ast.AnnAssign: lambda: [node.target]}.get(type(node), list)()
    parts = [part for target in targets for part in ast.walk(target)]
    return [part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)]


def chain(node: ast.AST) -> list[str]:
    """The names of one value that a statement with several `=` assigns."""
    return [part.id for part in node.targets if isinstance(part, ast.Name)] if isinstance(node, ast.Assign) else []


def without_file() -> list[str]:
    """The names in the modules that no file has, as `jit.script`."""
    modules = {path: vars(module) for path, module in sys.modules.items() if path.startswith("rushlight.")}
    plain = {path[10:]: names for path, names in modules.items() if "__file__" not in names and "__path__" not in names}
    return [f"{path}.{name}" for path, names in plain.items() for name in names if not name.startswith("_")]


def aliases(module: Module, name: str) -> list[str]:
    """The other names that a function or a value of the module has in `rushlight` itself, as `float32` is `float`."""
    value = getattr(sys.modules.get(f"rushlight.{module.name}"), name, None)
    if isinstance(value, type) or not getattr(value, "__module__", "").startswith("rushlight."):
        return []
    others = [other for other, known in vars(rushlight).items() if known is value and other != name and other[0] != "_"]
    own = [other for other in others if other in module.definitions()]
    if own and vars(rushlight).get(name) is not value:  # another name of the module is the usual one
        return []
    return [other for other in others if other not in own]


def row_names(node: ast.AST, computed: Collection[str] = ()) -> list[str]:
    """The names of the classes that a table defines: the keys of its dicts that are written as strings, and of the computed names
    those that an f-string of the statement may give."""
    tables = [part for part in ast.walk(node) if isinstance(part, ast.Dict)]
    names = [
        key.value
        for table in tables
        for key in table.keys
        if isinstance(key, ast.Constant) and str(key.value)[:1].isupper()
    ]
    texts = [part.values for part in ast.walk(node) if isinstance(part, ast.JoinedStr)]
    patterns = [
        "".join(getattr(part, "value", "") if isinstance(part, ast.Constant) else r"\w+" for part in parts)
        for parts in texts
    ]
    return names + [name for name in computed if any(re.fullmatch(pattern, name) for pattern in patterns)]


def named_result(name: str, kind: type) -> ast.Expr:
    """The definition of a type of `return_types`, which the module of the operators makes."""
    node = ast.Expr(ast.Constant(""), lineno=0, end_lineno=0)
    fields, operator = _series([f"`{field}`" for field in kind.__match_args__]), name.removesuffix("_out")
    node.said = f"The result of `{operator}`{' with `out`' * (operator != name)}: a tuple with the attributes {fields}."
    returned = [
        form
        for form, native in loaded().items()
        if native.schema.name == operator
        and bool(native.out) == (operator != name)
        and [result.name for result in native.schema.returns] == [*kind.__match_args__]
    ]
    node.said += f" Source: `{NATIVE}`, `{returned[0]}`." if returned else ""
    return node


def written_parameters(kind: type) -> str:
    """The parameters of a class as Python would read them, without types."""
    parameters = inspect.signature(kind).parameters.values()
    plain = [each.replace(annotation=each.empty) for each in parameters]
    return str(inspect.Signature(plain))


@cache
def of_tensor() -> dict[str, list[str]]:
    """The public attributes of `Tensor` that are no operators, by the function that each is. Those that are an expression are the
    class's own."""
    found: dict[str, list[str]] = {}
    for name, value in vars(Tensor).items():
        function = getattr(value, "fget", None) or getattr(value, "func", value)  # of a property, of a partial method
        place = f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', '<lambda>')}"
        place = place.removeprefix("rushlight.")
        special = name.startswith("__") and callable(value) and not hasattr(object, name)
        expression = place.endswith("<lambda>") or name == "T" or special and "._" in place
        if (special or not name.startswith("_")) and (expression or not place.startswith(GENERATED)):
            found.setdefault("aten.strided.Tensor" if expression else place, []).append(f"Tensor.{name}")
    return found


anchors: dict[str, str] = {}  # by page, its names
forms: dict[
    str, set[str]
] = {}  # by page, the operators and kernels of a function that has an entry elsewhere under the same name
sources: dict[str, tuple[list[str], Module, int]] = {}  # what is folded in, with its module and its first line


def modules(root: Path, repository: str = "") -> dict[str, list[Module]]:
    """The modules of each phase. One that no phase names is said in a warning."""
    folder, left, phases = root / "rushlight", {}, {}
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if name and not name.startswith(GENERATED):
            file = path.relative_to(root).as_posix()
            left[name] = Module(name, path, file, repository and repository + file)
    named = [name for names in PHASES.values() for name in names.split()]
    nearest = {
        other: max((name for name in named if f"{other}.".startswith(f"{name}.")), key=len, default="")
        for other in left
    }
    for phase, names in PHASES.items():
        for name in names.split():
            inside = [other for other in left if nearest[other] == name]
            phases.setdefault(phase, []).extend(left.pop(other) for other in sorted(inside))
    if left:
        log.warning("in no phase of docs/programs/hooks/api.py: %s", ", ".join(left))
    return {phase: inside for phase, inside in phases.items() if inside}


# What mkdocs calls ---------------------------------------------------------------------------------------------------


def on_config(config: MkDocsConfig) -> None:
    root = Path(config.config_file_path).parent
    labels = {phase.name[:2]: phase.label for phase in config.extra["phases"]}
    phases = config.extra["modules"] = {
        labels.get(phase) or (f"{phase} {inside[0].name.capitalize()}" if phase.isdigit() else phase): inside
        for phase, inside in modules(root, readable(config)).items()
    }
    entries: list[dict] = [{"Overview": "api/index.md"}, {"Operators": "api/operators.md"}]
    entries += [{phase: [{module.name: module.page} for module in inside]} for phase, inside in phases.items()]
    reference = next(entry[words("Reference")] for entry in config.nav if words("Reference") in entry)
    reference[:] = [entry for entry in reference if "API" not in entry]  # there already when `serve` builds again
    reference.append({"API": "api/index.md" if LANGUAGE else entries})
    config.watch.append(str(root / "rushlight"))


def readable(config: MkDocsConfig) -> str:
    """The address below which the repository's files can be read, from that at which its pages can be edited."""
    edit = urljoin(f"{config.repo_url.rstrip('/')}/", config.edit_uri) if config.repo_url and config.edit_uri else ""
    return edit.removesuffix("docs/").replace("/edit/", "/blob/", 1) if edit.endswith("/docs/") else ""


def on_files(files: Files, config: MkDocsConfig) -> None:
    sources.clear()
    anchors.clear()
    forms.clear()
    phases = config.extra["modules"]
    exercises = {name: lab for phase in config.extra["phases"] for lab in phase.labs for name in lab.exercises}
    declared = operators(Path(config.config_file_path).parent / "rushlight/aten/native/native_functions.yaml")
    by_name = {module.name: module for inside in phases.values() for module in inside}
    kernels: dict[str, list[str]] = {}
    texts: dict[str, str] = {}
    for _, entries in declared:
        for entry in entries:
            for module, _, function in {kernel.partition("::") for kernel in entry.kernels.values()}:
                names = kernels.setdefault(f"{module}.{function.partition('.')[0]}", [])
                names += [entry.name] if entry.name not in names else []
    inner_forms(kernels, by_name)
    config.extra["forms"] = forms

    def add(path: str, text: str) -> None:
        files.append(File.generated(config, path, content=f"{text}\n"))

    add("api/operators.md", "" if LANGUAGE else operators_page(declared, by_name))
    for module in by_name.values():
        left_out = LANGUAGE or config.draft_docs.match_file(module.page)
        texts[module.page] = "" if left_out else module_page(module, by_name, exercises, kernels)
        add(module.page, texts[module.page])
    add("api/index.md", overview(phases, texts))


def on_page_content(content: str, page: Page, **_) -> str:
    """On every page a file of PyTorch's that is named in full is a link."""
    if page.file.src_uri.startswith("api/"):
        content = BLOCK.sub(_at_lines, content)
        anchors[page.url.removeprefix("api/")] = " ".join(listed(content, page.file.src_uri))
    return INLINE.sub(lambda match: match[0] if match[1] else _linked_html(match, page), content)


def on_post_page(output: str, page: Page, config: MkDocsConfig, **_) -> str:
    """The sources come last, so that nothing else has to read them: not Markdown, and not the index of the search. So do the places
    at which a phone may break a long name."""
    if page.file.src_uri == "api/index.md":
        names = anchors | left_out(Path(config.docs_dir, "left_out.md").read_text(encoding="utf-8"))
        names[LEFT_OUT[""]] += f" {' '.join(lacking(anchors.values()))}"
        return output.replace(NAMES.format(""), NAMES.format(json.dumps(names, separators=(",", ":"))))
    if not page.file.src_uri.startswith("api/"):
        return output
    return HEADED.sub(lambda match: match[1] + match[2].replace(".", ".<wbr>"), FOLDED.sub(_folded, output))


def _at_lines(match: re.Match) -> str:
    """A class with the places of its names at the lines of its block that have them."""
    block, kind, notes = match.groups()
    for place, name in re.findall(rf'(<span id="{re.escape(kind)}\.(\w+)"></span>)', notes):
        line = rf'^(    (?:<span class="k">def</span><span class="w"> </span>)?<span class="nf?">)(?={name}</span>)'
        block, found = re.subn(line, rf"\1{place}", block, count=1, flags=re.MULTILINE)
        notes = notes.replace(place, "") if found else notes
    return block + notes.replace('<p class="notes"></p>', "")


def _linked_html(match: re.Match, page: Page) -> str:
    path = of_repository(match[2])
    if is_own(path) and not (LANGUAGE or NOWHERE.match(path)):
        own = f"api/{path.removesuffix('.py').removesuffix('/__init__')}.html"
        return f'<a href="{get_relative_url(own, page.url)}">{match[0]}</a>'
    return f'<a href="{url(path)}">{match[0]}</a>' if is_path(path) else match[0]


# Pages ---------------------------------------------------------------------------------------------------------------


def overview(phases: dict[str, list[Module]], texts: dict[str, str]) -> str:
    count, linked, below = 0, 0, 0
    for text in texts.values():
        head, *entries = re.split("^##+ `", text, flags=re.MULTILINE)
        entries = [entry for entry in entries if "." not in entry.partition("`")[0]]  # a method is part of its class
        number, own = len(entries), sum(REPOSITORY in entry for entry in entries)
        count, linked, below = count + number, linked + own, below + (REPOSITORY in head) * (number - own)
    lines = [
        "---\ntitle: API\n---\n\n# The API",  # of its window: the list of pages calls it the overview
        "`import rushlight as rl` gives a namespace with torch's names. These pages show the modules that it comes from, phase by "
        f"phase, as they describe themselves: {count:,} names of functions and classes. For {linked:,} of them a line says which "
        f"place in PyTorch they answer to, and for {below:,} more the head of their page names PyTorch's files. Such places are "
        f"links to PyTorch's source, in the release {TAG}. An exercise has a link to its lab.",
        FILTER,
        "[`operators`](operators.md)\n:   What `rl.add(x, y)` calls is an operator, and declared in a table.",
    ]
    for phase, inside in phases.items():
        lines.append(f"## {phase}")
        for module in inside:
            first = re.split(r"(?<=[.?:])\s", module.docstring.partition("\n\n")[0].replace("\n", " "))[0].rstrip(":")
            target = module.page.removeprefix("api/")
            lines.append(f"[`{module.name}`]({target})\n:   {prose(first, module)}")
    return "\n\n".join([*lines, NAMES.format(""), '<script src="../javascripts/names.js" defer></script>'])


def module_page(
    module: Module, by_name: dict[str, Module], exercises: dict[str, Notebook], kernels: dict[str, list[str]]
) -> str:
    """The page of one module, among those that are `found`."""
    up = "../" * module.page.count("/")
    parts = [f"# `rushlight.{module.name}`", prose(module.docstring, module)]
    if not module.definitions():
        parts += [f"From [`{source}`]({up}{page}): {names}." for source, page, names in gives(module, by_name)]
    for title, definitions in module.sections(kernels):
        if title:
            parts.append(f"## {_escaped(title[:1].upper() + title[1:])}")
        bare = [name for name in definitions if re.match(r"_\d", name)]
        once = [
            name
            for name, node in definitions.items()
            if chain(node)[:1] in ([], [name]) or f"{module.name}.{name}" in kernels
        ]
        for name in sorted((name for name in once if name not in bare), key=lambda name: not is_public(name, module)):
            full = f"{module.name}.{name}"
            notes = []
            operators = sorted(kernels.get(full, []), key=lambda operator: operator.partition(".")[0] != name)
            if full in exercises:
                lab = exercises[full]
                notes.append(f"An exercise of [lab {number_of(lab.path.stem)}]({up}{lab.page}).")
            if operators:
                links = [f"[`{operator}`]({up}api/operators.md#{anchor(operator)})" for operator in operators]
                notes.append(f"A kernel of {_series(links)}.")
            said = _says(definitions[name], name)
            if operators and not said:
                said = f"{kernel_sentence(operators)} {module.made_by(definitions[name])}"
            if home(name) == full and name in overloads():
                links = [f"[`{operator}`]({up}api/operators.md#{anchor(operator)})" for operator in overloads()[name]]
                notes.append(f"The operator: {_series(links)}.")
                links = [
                    f"[`{kernel}`]({up}{by_name[place].page}#{name})"
                    for kernel in kernels
                    for place, _, function in [kernel.rpartition(".")]
                    if function == name and kernel != full and place in by_name
                ]
                notes += [f"Its kernel: {_series(links)}."] if links else []
            parts.append(
                _entry(
                    definitions[name],
                    module,
                    notes,
                    3 if title else 2,
                    said,
                    answer=full in exercises,
                    known_as=name,
                    operators=operators,
                )
            )
        if bare:
            written = [module.signature(definitions[name]) for name in bare]
            names = [name for node in map(definitions.get, bare) if hasattr(node, "said") for name in without_file()]
            parts += [
                f"{definitions[name].said} {_places(names)}" for name in bare if hasattr(definitions[name], "said")
            ]
            parts.append(f"Statements of the module that register names:\n\n{_python(chr(10).join(written))}")
    if sum(map(bool, map(_says, module.definitions().values()))) >= MANY:
        parts.insert(2, FILTER)
        parts.append(f'<script src="{up}javascripts/names.js" defer></script>')
    return "\n\n".join(parts)


def _says(definition: DEFINITION, name: str = "") -> str:
    """Its docstring: of a name that is assigned, the string below it, and of a row, the function that the row calls."""
    if not isinstance(definition, STATEMENT):
        return ast.get_docstring(definition) or ""
    parts = [part for part in ast.walk(row(definition, name)) if getattr(getattr(part, "value", 0), "id", "") in CALLED]
    called = [CALLED[part.value.id].format(part.attr) for part in parts]
    return getattr(definition, "said", "") or (
        f"The module of {called[0]}, which it calls with its settings." if called else ""
    )


def row(statement: STATEMENT, name: str) -> ast.AST:
    """The value of a name in the dict of a statement. Otherwise an empty tree."""
    tables = [part for part in ast.walk(statement) if isinstance(part, ast.Dict)]
    pairs = [pair for table in tables for pair in zip(table.keys, table.values)]
    return next((value for key, value in pairs if getattr(key, "value", None) == name), ast.Module([], []))


@cache
def public() -> dict[int, list[tuple[str, str]]]:
    """The names that each function, class and value of rushlight has in the modules that PyTorch has too, as far as they are
    imported here: by its id, the module and the name."""
    found: dict[int, list[tuple[str, str]]] = {}
    for path, module in sorted(sys.modules.items()):
        space = path.removeprefix("rushlight").removeprefix(".")
        if path.partition(".")[0] == "rushlight" and "._" not in path and source_of(space):
            for name, value in vars(module).items():
                if name[0] != "_" and getattr(value, "__module__", "").startswith("rushlight."):
                    found.setdefault(id(value), []).append((space, name))
    return found


def counterpart(module: Module, name: str) -> tuple[str, str, int] | None:
    """The file of PyTorch, the name and the line that define what an entry is called there."""
    name, _, method = name.partition(".")
    value = getattr(sys.modules.get(f"rushlight.{module.name}"), name, None)
    names = sorted(public().get(id(value), []), key=lambda each: each[1] != name)  # its own name before others
    parts = module.name.split(".")
    spaces = [
        (".".join(parts[:count]), name) for count in range(len(parts), 0, -1)
    ]  # a package often has the names of its modules
    spaces = [("_tensor", name)] if name == "Tensor" else [*spaces, *names]
    places = [place for space, known in spaces if (place := resolved(space, known))]
    if method:
        owners = [(file, kind) for file, kind, _ in places]
        places = [(file, method, line) for file, kind in owners if (line := method_line(file, kind, method))]
        if name == "Tensor":
            places += [(file, method, line) for file in LISTED if (line := defined(file)[file].get(method))]
    elif any(space == "" for space, _ in spaces):
        operators = [known for space, known in spaces if not space]
        places += [(NATIVE, each, line) for each in operators if (line := defined(NATIVE)[NATIVE].get(each))]
    return next(iter(places), None)


def source_of(space: str) -> str:
    """The file of the module of torch with this path, if the wheel has it."""
    wheel, path = Path(torchgen.__file__).parents[1], "/".join(["torch", *filter(None, space.split("."))])
    return next((file for file in (f"{path}.py", f"{path}/__init__.py") if (wheel / file).is_file()), "")


def resolved(space: str, name: str, hops: int = 4) -> tuple[str, str, int] | None:
    """The file, the name and the line that define a name of a module of torch, which may import it from another module."""
    file = source_of(space)
    if not file or not hops:
        return None
    if line := defined(file)[file].get(name):
        return file, name, line
    for source, names in imports(file):
        if (original := names.get(name) or ("*" in names and name)) and (place := resolved(source, original, hops - 1)):
            return place
    return None


@cache
def imports(file: str) -> list[tuple[str, dict[str, str]]]:
    """The modules of torch that a file imports names from, and these names with what they are called there."""
    package = file.removesuffix(".py").removesuffix("/__init__").split("/")
    package = package if file.endswith("/__init__.py") else package[:-1]
    found = []
    for source, inside, plain in IMPORT.findall((Path(torchgen.__file__).parents[1] / file).read_text("utf-8")):
        up = len(source) - len(source.lstrip("."))
        path = ".".join([*package[: len(package) - up + 1], source.lstrip(".")] if up else [source]).strip(".")
        parts = [part.split() for part in re.sub(r"#.*", "", inside or plain).split(",")]
        if f"{path}.".startswith("torch."):
            found.append((path[6:], {part[-1]: part[0] for part in parts if part}))
    return found


def method_line(file: str, kind: str, method: str) -> int:
    """The line of a method in a file of PyTorch, where its class or one of the bases in the same file defines it."""
    lines = defined(file)[file]
    if line := lines.get(f"{kind}.{method}"):
        return line
    source = (Path(torchgen.__file__).parents[1] / file).read_text("utf-8")
    bases = re.search(rf"^class {kind}\(([^)]*)\)", source, re.MULTILINE)
    return next(
        (line for base in re.findall(r"\w+", bases[1] if bases else "") if (line := method_line(file, base, method))), 0
    )


def with_lines(text: str, places: list[tuple[str, str, int]]) -> str:
    """A text with links to places in PyTorch: beside the file, where the text names it, otherwise in a paragraph at its end."""
    below = []
    for file, found in groupby(places, key=lambda place: place[0]):
        links = _series([f"[`{name}`]({url(file)}#L{line})" for _, name, line in found])
        if _link(file) in text:
            text = text.replace(_link(file), f"{_link(file)} ({links})", 1)
        else:
            below.append(f"{_link(file)}, {links}")
    label = "Defined in" if "**In PyTorch:**" in text else "In PyTorch"
    return f"{text}\n\n**{label}:** {'; '.join(below)}." if below else text


def place(module: Module, name: str) -> str:
    """The line for an entry without a place: the file, among those that the module names, that defines the same name."""
    codes = [match[2] for match in CODE.finditer(module.docstring)]
    for path in (of_repository(module.files.get(code, code)) for code in codes):
        if file := next((file for file, names in defined(path).items() if name in names), ""):
            return f"**In PyTorch:** {_link(file)}, {_at(file, name) or f'`{name}`'}."
    return ""


@cache
def defined(path: str) -> dict[str, dict[str, int]]:
    """The functions and classes that a file of PyTorch defines, or each file of a folder, with the line of each. Of a `.cpp` these
    are the classes in its header, without a line: the wheel does not have the file itself."""
    wheel = Path(torchgen.__file__).parents[1]
    if path in LISTED:
        packaged = path.replace("aten/src", "packaged").replace("tools", "packaged")
        source = (wheel / "torchgen" / packaged).read_text("utf-8")
        found = LISTED[path].finditer(source)
        names = [(name, source.count("\n", 0, match.start()) + 1) for match in found for name in match.groups()]
        return {path: dict(reversed(names))}  # of a name's overloads the first
    if path.endswith((".cpp", ".h", ".hpp")):
        header = wheel / "torch/include" / path.removeprefix("aten/src/")
        headers = [header.with_suffix(ending) for ending in (".h", ".hpp")] if path.endswith(".cpp") else [header]
        sources = [file.read_text("utf-8") for file in headers if file.is_file()]
        line = (lambda text, at: 0) if path.endswith(".cpp") else (lambda text, at: text.count("\n", 0, at) + 1)
        return {path: {match[1]: line(text, match.start()) for text in sources for match in CLASS.finditer(text)}}
    files = (
        [wheel / path]
        if path.endswith(".py")
        else sorted((wheel / path).glob("*.py"))
        if path.startswith("torch/")
        else []
    )
    return {file.relative_to(wheel).as_posix(): _lines(file.read_text("utf-8")) for file in files if file.is_file()}


def _lines(source: str) -> dict[str, int]:
    """The line of each name that a source defines, of several definitions the last; that of a method is the name of its class and
    its own. A block below a condition defines names of the module."""
    found, owner, line, at = dict[str, int](), "", 1, 0
    for match in DEFINED.finditer(source):
        line, at = line + source.count("\n", at, match.start()), match.start()
        indent, kind, name, assigned, condition = match.groups()
        if not indent:
            owner = f"{name}." if kind == "class" else "" if condition else None
        if (name := name or assigned) and (not indent or owner is not None and len(indent) == 4):
            found[f"{owner}{name}" if indent else name] = line
    return found


def _at(path: str, name: str) -> str:
    """A link to the line where a file of PyTorch defines a name, if the wheel has the file."""
    lines = defined(path).get(path, {})
    line = lines.get(name) or next((line for each, line in lines.items() if each.endswith(f".{name}")), 0)
    return f"[`{name}`]({url(path)}#L{line})" if line else ""


def gives(module: Module, by_name: dict[str, Module]) -> Iterator[tuple[str, str, str]]:
    """List the modules that a namespace imports from: the name, the page, and the public names of each."""
    for node in module.tree.body:
        source = by_name.get((getattr(node, "module", None) or "").removeprefix("rushlight."))
        if not isinstance(node, ast.ImportFrom) or source is None:
            continue
        names = source.public if node.names[0].name == "*" else [alias.asname or alias.name for alias in node.names]
        names = [name for name in names if not name.startswith("_") and f"{source.name}.{name}" not in by_name]
        if names:
            yield source.name, source.page, _series([f"`{name}`" for name in names])


def _entry(
    definition: DEFINITION, module: Module, notes: list[str], level: int, said: str, within: str = "", answer: bool = False,
    known_as: str = "", operators: Iterable[str] = (),
) -> str:  # fmt: skip
    name = within + getattr(definition, "name", known_as)
    others = [other for other in of_tensor().get(f"{module.name}.{name}", []) if other != name]
    rest = [] if within else [other for other in chain(definition) if other != name]
    others += [] if within else [*rest, *(other for other in aliases(module, name) if other not in rest)]
    if name.startswith(("_", "tensor_")) and others:
        name = others.pop(0)
    if isinstance(definition, ast.ClassDef):
        quiet = [f"{name}.{other}" for other in _silent(definition)]
        up = "../" * module.page.count("/")
        links = [
            (each, value.__module__.removeprefix("rushlight.")) for each, value in module.given(definition).items()
        ]
        links = [
            f"`{name}.{each}` is [`{space}.{each}`]({up}api/{space.replace('.', '/')}.md#{each})."
            for each, space in links
        ]
        notes = [*notes, *links]
        others += quiet + [other for each in quiet for other in of_tensor().get(f"{module.name}.{each}", [])]
    parts = [f"{'#' * level} `{name}` {{ #{name} }}", _python(module.signature(definition, name))]
    if others and not isinstance(definition, ast.ClassDef):
        notes = [*notes, f"Also {_series([f'`{other}`' for other in others])}."]
    if others:
        notes = [*notes, _places(others)]
    if notes:
        parts.append(f"{' '.join(notes)}\n{{: .notes }}")
    parts.append(prose(said, module))
    lines = [line for each in [name, *rest] if f"[`{each}`](" not in parts[-1] and (line := counterpart(module, each))]
    named = [file for file in LINKED.findall(parts[-1]) if file != NATIVE and f"[`{name}`](" not in parts[-1]]
    lines = lines or [(file, name, line) for file in named if (line := defined(file).get(file, {}).get(name))]
    if lines:
        parts[-1] = with_lines(parts[-1], lines)
    elif not within and "](https:" not in parts[-1]:
        known = [(NATIVE, each, line) for each in operators if (line := defined(NATIVE)[NATIVE].get(each))]
        parts.append(place(module, name) or with_lines("", known).strip())
    parts += [] if answer or isinstance(definition, STATEMENT) else [_source([definition], module)]
    if isinstance(definition, ast.ClassDef):
        parts += [_entry(method, module, [], level + 1, _says(method), f"{name}.") for method in _described(definition)]
    return "\n\n".join(parts)


def _described(definition: ast.ClassDef) -> list[ast.FunctionDef]:
    """The methods that have an entry of their own."""
    return [method for method in _methods(definition) if ast.get_docstring(method)]


def _silent(definition: ast.ClassDef) -> list[str]:
    """The public methods without a docstring, with those that a statement names."""
    names = [*(method.name for method in _methods(definition)), *_named(definition)]
    return [name for name in dict.fromkeys(names) if name not in {method.name for method in _described(definition)}]


def _named(definition: ast.ClassDef) -> dict[str, str]:
    """The values of the public names that statements of a class assign, as `half = partialmethod(to, float16)`. One that is longer
    than a line is left out."""
    found = {}
    for node in definition.body:
        if isinstance(node, ast.Assign) and not isinstance(node.value, ast.Constant):
            names, values = assigned(node), getattr(node.value, "elts", [])
            several = len(node.targets) == 1 and isinstance(node.targets[0], ast.Tuple) and len(values) == len(names)
            for name, value in zip(names, values if several else [node.value] * len(names)):
                found[name] = written if len(f"{name} = {(written := ast.unparse(value))}") <= LONGEST else "..."
    return {name: value for name, value in found.items() if not name.startswith("_")}


def _places(names: Iterable[str]) -> str:
    """Where links to names lead that have no heading."""
    return "".join(f'<span id="{name}"></span>' for name in dict.fromkeys(names))


def _methods(definition: ast.ClassDef) -> list[ast.FunctionDef]:
    return [node for node in definition.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")]


def _source(definitions: list[ast.FunctionDef | ast.ClassDef], module: Module) -> str:
    """The code of definitions, folded: without docstrings, and of a class without the methods that have entries of their own."""
    texts = [text for definition in definitions if (text := body(definition, module.lines))]
    if not texts:
        return ""
    line = definitions[0].lineno
    sources[f"{module.name}:{line}"] = texts, module, line
    return f'<div data-source="{module.name}:{line}"></div>'


def _folded(match: re.Match) -> str:
    texts, module, line = sources[match[1]]
    code = PLAIN.sub(r"\1", highlight("\n\n\n".join(texts), LEXER, FORMATTER).rstrip())
    where = f'<p class="notes"><a href="{module.url}#L{line}">{module.file}</a>, line {line}</p>' if module.url else ""
    block = f'<div class="highlight"><pre><code>{code}</code></pre></div>'
    return f'<details class="folded"><summary>Source</summary>{block}{where}</details>'


def body(definition: ast.FunctionDef | ast.ClassDef, lines: list[str]) -> str:
    """Return the source of a definition; nothing if its signature and its docstring say all of it."""
    inside = [node for node in [definition, *definition.body] if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    left_out = [node.body[0] for node in inside if _says(node)]
    left_out += _described(definition) if isinstance(definition, ast.ClassDef) else []
    gone = {line for node in left_out for start, end in [_extent(node)] for line in range(start, end + 1)}
    shown = [node for node in definition.body if node not in left_out]
    if isinstance(definition, ast.ClassDef) and not any(isinstance(node, ast.FunctionDef) for node in shown):
        return ""
    first, last = _extent(definition)
    text = "\n".join(lines[line - 1] for line in range(first, last + 1) if line not in gone)
    return re.sub(r"\n\s*\n(?=\s*\n)", "\n", dedent(text)).strip("\n") if shown else ""


def _extent(node: ast.AST) -> tuple[int, int]:
    """Its first and its last line, decorators included."""
    return min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", []))]), node.end_lineno


def signature(definition: ast.FunctionDef | ast.ClassDef, given: Mapping[str, Callable] = MappingProxyType({})) -> str:
    """As Python would read it. A class has its fields, those methods in it that have no docstring of their own, and what its
    statements name. Of a function that it is `given` it has the signature."""
    head = [f"@{ast.unparse(decorator)}" for decorator in definition.decorator_list]
    if isinstance(definition, ast.ClassDef):
        bases = [ast.unparse(base) for base in [*definition.bases, *(keyword.value for keyword in definition.keywords)]]
        head.append(f"class {definition.name}{'(' + ', '.join(bases) + ')' if bases else ''}")
        fields = [ast.unparse(node) for node in definition.body if isinstance(node, ast.AnnAssign)]
        fields = [field for field in fields if not field.startswith("_")]
        made = [node for node in definition.body if isinstance(node, ast.FunctionDef) and node.name == "__init__"]
        rest = [signature(method) for method in made + _methods(definition) if not ast.get_docstring(method)]
        borrowed = {name: signature(ast.parse(inspect.getsource(value)).body[0]) for name, value in given.items()}
        rest += [borrowed.get(name, f"{name} = {value}") for name, value in _named(definition).items()]
        return "\n".join([*head, *(indent(text, "    ") for text in fields + rest)])
    returns = f" -> {ast.unparse(definition.returns)}" if definition.returns else ""
    arguments = _arguments(definition.args)
    line = f"def {definition.name}({', '.join(arguments)}){returns}"
    if len(line) > LONGEST:
        lines = "\n".join(f"    {argument}," for argument in arguments)
        line = f"def {definition.name}(\n{lines}\n){returns}"
    return "\n".join([*head, line])


def _arguments(arguments: ast.arguments) -> list[str]:
    """Each argument as it would be written, with `*` and `/` among them."""
    places = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(places) - len(arguments.defaults)) + arguments.defaults
    written = [_argument(*pair) for pair in zip(places, defaults)]
    if arguments.posonlyargs:
        written.insert(len(arguments.posonlyargs), "/")
    if arguments.vararg:
        written.append(f"*{_argument(arguments.vararg)}")
    elif arguments.kwonlyargs:
        written.append("*")
    written += [_argument(*pair) for pair in zip(arguments.kwonlyargs, arguments.kw_defaults)]
    return written + [f"**{_argument(argument)}" for argument in [arguments.kwarg] if argument]


def _argument(argument: ast.arg, default: ast.expr | None = None) -> str:
    if default is None:
        return ast.unparse(argument)
    return f"{ast.unparse(argument)}{' = ' if argument.annotation else '='}{ast.unparse(default)}"


# Operators -----------------------------------------------------------------------------------------------------------


@dataclass
class Operator:
    schema: str
    kernels: dict[str, str]  # by dispatch key

    @property
    def name(self) -> str:
        return self.schema.partition("(")[0]


loaded = cache(load)  # reading the table takes most of a second


def operators(path: Path) -> list[tuple[str, list[Operator]]]:
    """List the declarations under the headings of the file."""
    _, *parts = re.split(r"^# -{4} (.+)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return [
        (
            title,
            [
                Operator(entry["func"], _kernels(entry, path.parent))
                for entry in yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
                if "func" in entry
            ],
        )
        for title, text in zip(parts[::2], parts[1::2])
    ]


def _kernels(entry: dict, native: Path) -> dict[str, str]:
    """The kernels of an entry by dispatch key: formulas, or `module::function` with the room of the module."""

    def with_room(kernel: str) -> str:
        module, _, function = kernel.partition("::")
        if not function or not module.isidentifier():
            return kernel
        return f"aten.native.{kernel}" if (native / f"{module}.py").exists() else f"aten.{kernel}"

    return {key: with_room(kernel) for key, kernel in entry.get("dispatch", {}).items()}


def operators_page(declared: list[tuple[str, list[Operator]]], by_name: dict[str, Module]) -> str:
    counterpart = _link("aten/src/ATen/native/native_functions.yaml")
    says, also = facts(natives := loaded()), other_names()
    count = sum(len(entries) for _, entries in declared)
    listed = {entry.name for _, entries in declared for entry in entries}
    generated = [Operator(native.text, native.dispatch) for name, native in natives.items() if name not in listed]
    declared = [*declared, ("Forms and other names that are generated", generated)]
    parts = [
        "# Operators",
        f"`native_functions.yaml` declares {count} operators, and {len(generated)} more are made from these: "
        "in-place and `out=` forms, and other names. Each has a schema, and kernels by dispatch key. "
        f"The schemas are those of the same names in PyTorch's {counterpart}, with `int` for `SymInt`. A few are not in that "
        "file, because PyTorch generates these operators, as `autogen` says there. Four schemas differ: `expand` and "
        "`expand_copy` have no argument `implicit`, and `rrelu_with_noise` and `rrelu_with_noise_` do not say that they write "
        "to `noise`, in PyTorch `Tensor(b!) noise`. An operator without a kernel here is generated from its form with `.out`. "
        "Derivatives are in `derivatives.yaml`, and in PyTorch in "
        f"{_link('tools/autograd/derivatives.yaml')}.",
    ]
    for title, entries in declared:
        parts.append(f"## {title.partition(':')[0]}")
        for entry in entries:
            words = " ".join(says[entry.name])
            lines = [f"`{entry.schema}`{{ #{anchor(entry.name)} data-is='{words}' }}"]
            if names := also.get(entry.name):
                lines.append(f":   Also {_series([f'`{name}`' for name in names])}{_places(names)}")
            for kernel, keys in groupby(entry.kernels.items(), key=lambda item: item[1]):
                lines.append(
                    f":   {', '.join(key for key, _ in keys)}: {_kernel(kernel, by_name) if '::' in kernel else f'`{kernel}`'}"
                )
            if delegate := natives[entry.name].structured_delegate:
                lines.append(f":   CPU, Meta: made from [`{delegate}`](#{anchor(delegate)})")
            lines[-1] += "; has a derivative" if "derivative" in says[entry.name] else ""
            parts.append("\n\n".join(lines))
    parts.insert(2, '<form class="filter" role="search"></form>')
    parts.append('<script src="../javascripts/operators.js" defer></script>')
    return "\n\n".join(parts)


def facts(natives: dict[str, Native]) -> dict[str, list[str]]:
    """For each operator what the page can be filtered by: its form, its kernels, and where its derivative comes from."""
    derivatives = load_derivatives(natives)
    own = {derivative.native.name for derivative in derivatives}
    differentiated = {derivative.native.name for derivative in derivatives if derivative.formulas}
    differentiated |= {native.name for derivative in derivatives for native in inplace_forms(derivative, natives, own)}
    rows = {}
    for name, native in natives.items():
        form = (
            "out"
            if native.out
            else "in-place"
            if native.schema.is_mutable
            else "view"
            if native.is_view
            else "functional"
        )
        structured = native.structured or native.structured_delegate
        keys = ["CPU", "Meta", "structured"] if structured else list(native.dispatch)
        derivative = "derivative" if name in differentiated else "calls" if native.is_composite else "no-derivative"
        rows[name] = [form, *keys, derivative]
    return rows


def _kernel(kernel: str, by_name: dict[str, Module]) -> str:
    module, _, function = kernel.partition("::")
    name, text = function.partition(".")[0], f"`{module.rpartition('.')[2]}.{function}`"
    if module not in by_name or name not in by_name[module].definitions([f"{module}.{name}"]):
        return text
    return f"[{text}]({by_name[module].page.removeprefix('api/')}#{name})"


def anchor(operator: str) -> str:
    return "op_" + operator.replace(".", "-")


def kernel_sentence(operators: list[str]) -> str:
    """What is said of a kernel without a docstring, from the tables of operators."""
    natives = loaded()
    made = [name for name, other in natives.items() if other.structured_delegate == operators[0]]
    native = natives[operators[0]]
    if not native.structured or not made:
        return f"Computes `{native.text}`."
    return f"Computes `{natives[made[0]].text}`. {_series([f'`{name}`' for name in [*made, native.name]])} are made from it."


@cache
def overloads() -> dict[str, list[str]]:
    """The operators by the name of their functions, without those that write to `out`."""
    found: dict[str, list[str]] = {}
    for operator, native in loaded().items():
        if native.out is None:
            found.setdefault(native.schema.name, []).append(operator)
    return found


def home(name: str) -> str:
    """Where a function is defined that programs call by the name of an operator, if the operator itself is not this function."""
    functions = [vars(space).get(name) for space in (rushlight, rushlight.nn.functional)]
    places = [getattr(function, "__module__", "").removeprefix("rushlight.") for function in functions if function]
    return next((f"{place}.{name}" for place in places if place and not place.startswith(GENERATED)), "")


def inner_forms(kernels: dict[str, list[str]], by_name: dict[str, Module]) -> None:
    """Note the operators that a function of the same name calls, and the kernels with the name of their operator."""
    for name, operators in overloads().items():
        if home(name).rpartition(".")[0] in by_name:
            forms.setdefault("api/operators.md", set()).update(anchor(operator) for operator in operators)
    for kernel, operators in kernels.items():
        module, _, name = kernel.rpartition(".")
        if (
            module in by_name
            and module.startswith("aten.native.")
            and kernel != home(name)
            and name in {operator.partition(".")[0] for operator in operators}
        ):
            forms.setdefault(by_name[module].page, set()).add(name)


def listed(content: str, path: str) -> list[str]:
    """The names of a page as `NAMES` has them."""
    head, *rest = ANCHOR.split(content)
    found = {"": "".join(re.findall("<p>(?:(?!</p>).)*In PyTorch:.*?</p>", head, re.DOTALL))}
    for *groups, text in zip(*(rest[i::4] for i in range(4))):
        name = "".join(filter(None, groups))
        found[name] = found.get(name, "") + "".join(re.findall("<p><strong>In PyTorch:.*?</p>", text, re.DOTALL))
    own = forms.get(path, ())
    return [
        "".join([
            name,
            "~" if name in own else "!" + ",".join(spaces) if (spaces := homes(name, path)) else "",
            "=" + ",".join(known) if (known := answers(text, name) + arguments(name, path)) else "",
        ])
        for name, text in found.items()
        if name or answers(text)
    ]  # fmt: skip


def arguments(anchor: str, path: str) -> list[str]:
    """The arguments that a function has in PyTorch too and that have a default, if their names are of several words."""
    module = sys.modules.get(f"rushlight.{path[4:-3].replace('/', '.')}")
    name, _, method = anchor.partition(".")
    value = getattr(module, name, None)
    if not (homes(name, path) or name == "Tensor"):
        return []
    try:
        found = inspect.signature(getattr(value, method) if method else value).parameters.values()
    except (AttributeError, TypeError, ValueError):
        return []
    return [each.name for each in found if "_" in each.name.strip("_") and each.default is not each.empty]


def left_out(page: str) -> dict[str, str]:
    """The names in the tables of what is left out, without `torch`, by the address that lists them."""
    parts = [part.partition("\n") for part in re.split("^(?:# .*|## )", page, flags=re.MULTILINE)[1:]]
    return {
        LEFT_OUT[title]: " ".join(map("".join, LEFT_OUT_NAME.findall(text)))
        for title, _, text in parts
        if title in LEFT_OUT
    }


def lacking(listed: Iterable[str]) -> list[str]:
    """The names of torch's public packages and of its operators that neither rushlight nor a page of the API has."""
    wheel, found = Path(torchgen.__file__).parents[1] / "torch", dict[str, str]()
    packages = [file for depth in ("", "*/", "*/*/") for file in wheel.glob(f"{depth}__init__.py")]
    for file in [wheel / "_C/_VariableFunctions.pyi", wheel / "functional.py", *packages]:
        parts, text = file.relative_to(wheel).parent.parts, file.read_text("utf-8")
        if file.suffix == ".pyi":
            parts, names = (), re.findall(r"^def (\w+)\(", text, re.MULTILINE)
        else:
            names = re.findall(r'"(\w+)"', " ".join(ALL.findall(text))) + DESCRIBED.findall(text)
        if not any(part.startswith("_") or part in UNSEEN for part in parts):
            space = ".".join(parts).replace("nn.modules", "nn")
            found |= {
                name: ".".join(filter(None, [space, name])) for name in names if name[0] != "_" and name not in found
            }
    known = {part for names in listed for name in names.split() for part in re.split(r"\W|op_", name.partition("=")[0])}
    return sorted(path for name, path in found.items() if name not in known and not has(path))


def has(path: str) -> bool:
    """Whether rushlight has what torch has at a path, as far as it is imported here."""
    try:
        return attrgetter(path)(rushlight) is not None
    except AttributeError:
        return False


def answers(text: str, name: str = "") -> list[str]:
    """The names and the files of PyTorch in a text, without the folders, and without the name itself."""
    codes = [
        code.rstrip("/").rpartition("/")[2].replace("::", ".") for code in re.findall("<code>([^<]+)</code>", text)
    ]
    return [
        code for code in dict.fromkeys(codes) if re.fullmatch(r"[\w.]+", code) and code not in (name, "__init__.py")
    ]


def is_public(name: str, module: Module) -> bool:
    """Whether programs take a name of the module, or another name of its value, from `rushlight` itself, or the name from a package
    that the module is in, or from the module of torch with the same path."""
    above = any(not space or f"{module.name}.".startswith(f"{space}.") for space in homes(name, module.page))
    return above or bool(aliases(module, name) or resolved(module.name, name))


def homes(anchor: str, path: str) -> list[str]:
    """The modules besides its own from which programs take a name of this page: `rushlight` itself, as an empty name, and the one
    with the shortest name."""
    name, module = anchor.removeprefix("op_").partition("-")[0], path[4:-3].replace("/", ".")
    spaces = (vars(space).get(name) for space in (rushlight, rushlight.nn.functional))
    value = (
        next((each for each in spaces if getattr(each, "__module__", "").startswith("rushlight.aten.generated")), None)
        if anchor.startswith("op_")
        else getattr(sys.modules.get(f"rushlight.{module}"), name, None)
    )
    if value is None:
        return []
    inside = [space for space, known in public().get(id(value), []) if known == name and space not in ("", module)]
    return [""] * (vars(rushlight).get(name) is value) + sorted(inside, key=len)[:1]


def other_names() -> dict[str, list[str]]:
    """The names that an operator has besides its own: of Python's operators, and in a namespace."""
    found: dict[str, list[str]] = {}
    for name, operator in [*DUNDERS.items(), *PREFIX.items()]:
        found.setdefault(operator, []).append(f"Tensor.__{name}__")
    for place, space in ("linalg", rushlight.linalg), ("nn.functional", rushlight.nn.functional):
        for name, function in vars(space).items():
            if getattr(function, "__module__", "").endswith(GENERATED[0] + ".functions") and function.__name__ != name:
                found.setdefault(overloads()[function.__name__][0], []).append(f"{place}.{name}")
    return found


# Docstrings ----------------------------------------------------------------------------------------------------------


def prose(docstring: str, module: Module) -> str:
    """A docstring as Markdown: its sections as lists, PyTorch's files as links, `Source:` in a paragraph of its own."""
    text = TABLE.sub(lambda match: ROW.sub(r"- `\1`: \2", match[0]), docstring + "\n")
    text = SECTION.sub(_section, text).strip()
    text = EXAMPLE.sub(lambda match: f"```pycon\n{dedent(match[0]).rstrip()}\n```\n", text)  # else `>>>` is a quotation
    text = re.sub(r"(?:\A|(?<=\s))Source:\s", "\n\n**In PyTorch:** ", text)
    pieces, at = [], 0
    for block in VERBATIM.finditer(text):
        pieces += [_inline(text[at : block.start()], module), block[0]]
        at = block.end()
    return lists("".join([*pieces, _inline(text[at:], module)]))


def _inline(text: str, module: Module) -> str:
    """Text with its code linked where it is a file, or in a sentence with the file that defines it. The rest has no HTML and no
    formulas."""
    pieces, at, file = [], 0, ""
    for match in CODE.finditer(text):
        before, path = text[at : match.start()], of_repository(module.files.get(match[2], match[2]))
        file = path if is_path(path) else "" if re.search(r"[.;:]\s", before) else file
        linked = _link(path, match[2]) if file == path else file and _at(file, match[2])
        pieces += [_escaped(before), linked or match[0]]
        at = match.end()
    return "".join([*pieces, _escaped(text[at:])])


def _section(match: re.Match) -> str:
    title, body = match[1], dedent(match[2]).strip("\n")
    if title == "Rules":
        return f"**{title}:**\n\n{body}\n\n"
    entries = ENTRY.split(body)
    if entries[0].strip() or len(entries) < 4:
        return f"**{title}:** {body}\n\n"
    items = [
        f"- {name if name.startswith('`') else f'`{name}`'}{aside}: {indent(dedent_after_first(text.strip()), '    ').strip()}"
        for name, aside, text in zip(entries[1::3], entries[2::3], entries[3::3])
    ]
    return f"**{title}:**\n\n" + "\n".join(items) + "\n\n"


def dedent_after_first(text: str) -> str:
    first, _, rest = text.partition("\n")
    return f"{first}\n{dedent(rest)}" if rest else first


def of_repository(code: str) -> str:
    """The path in PyTorch's repository of what a text names."""
    start = next((start for start in PLACES if code.startswith(start)), "")
    return PLACES.get(start, "") + code.removeprefix(start)


def is_own(code: str) -> bool:
    """Whether a path is that of a module of rushlight, in a folder that PyTorch has, and PyTorch has no such module."""
    own, wheel = (Path(package.__file__).parent for package in (rushlight, torchgen))
    is_module = code.startswith(("aten/", "c10/", "torchgen/")) and code.endswith(".py")
    return is_module and (own / code).is_file() and not (wheel.parent / code).is_file()


def is_path(code: str) -> bool:
    known = code.startswith(TOPS) and not NOWHERE.match(code) and not is_own(code)
    return known and bool(FILE.fullmatch(code) or FOLDER.fullmatch(code))


def url(path: str) -> str:
    return ADDRESS.format("blob" if FILE.fullmatch(path) else "tree", path.rstrip("/"))


def _link(path: str, text: str = "") -> str:
    return f"[`{text or path}`]({url(path)})"


def _escaped(text: str) -> str:
    return re.sub(r"&(?!\w+;)", "&amp;", text).replace("<", "&lt;").replace("$", "&#36;")


def _python(source: str) -> str:
    return f"```python\n{source}\n```"


def _series(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]
