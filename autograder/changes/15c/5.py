"""fx.replace_pattern: the matches that it returns name nodes that are no longer in the graph

I remove additions of zero from a graph with `torch.fx.replace_pattern` and want to log, for each of them, where its
input comes from. `replace_pattern` returns a list of `Match`, and `nodes_map` leads from the nodes of the pattern to
those of my graph, so I look up the placeholder of the pattern. If two additions follow each other, the source of the
second one is the first addition, which has just been removed: it is not among `graph.nodes` and has no users. The
program below returns the name of each source and whether the graph contains it. I expected `x` and True three times,
and get them once.

The rewritten module itself is right, its code and its results. With a single addition, or with additions in different
places of the graph, all sources are right.

2.13.0, Linux, CPU
"""

ABOUT = (
    "A match is found before the graph is changed. If an earlier match's result is its input, its maps still name the "
    "erased node. Modelled on pytorch issue 98974 (matches track nodes incorrectly for subsequent removals) and pull "
    "request 99039 (updates the match with the changed nodes). The proposed patch is right: it changes all later "
    "matches at each replacement, instead of looking the changes up at the next one."
)
AT = ("torch/fx/subgraph_rewriter.py", "_replace_pattern")
FAULT = [
    (
        "torch/fx/subgraph_rewriter.py",
        """                if gn != val_map[rn]:
                    # Update match.placeholder_nodes and match.nodes_map with the node that replaced gn
                    gn_ind = match.placeholder_nodes.index(gn)
                    match.placeholder_nodes[gn_ind] = match_changed_node[gn]
                    map_key = list(match.nodes_map.keys())[
                        list(match.nodes_map.values()).index(gn)
                    ]
                    match.nodes_map[map_key] = match_changed_node[gn]
""",
        "",
    ),
    (
        "torch/fx/subgraph_rewriter.py",
        "    # As we progressively replace nodes, we'll need to keep track of how the match results should change\n",
        "    # The nodes that have been replaced so far\n",
    ),
]
NEEDS = {"torch/fx/graph.py", "torch/fx/passes/utils/matcher_utils.py", "torch/fx/subgraph_rewriter.py"}
STATEMENTS = 8
LINES = 32
LINK = (
    "torch.fx.replace_pattern -> _replace_pattern, which finds all matches first and replaces one after the other. "
    "Dead end: SubgraphMatcher.match, whose maps are right for the graph that it is given."
)


def symptom(torch):
    def model(x):
        x = torch.add(x, 0)
        x = torch.add(x, 0)
        x = torch.add(x, 0)
        return torch.relu(x)

    def pattern(y):
        return torch.add(y, 0)

    def replacement(y):
        return y

    module = torch.fx.symbolic_trace(model)
    sources = []
    for match in torch.fx.replace_pattern(module, pattern, replacement):
        for inner, node in match.nodes_map.items():
            if inner.op == "placeholder":
                sources.append([node.name, node in list(module.graph.nodes)])
    return sources


def reproduced(torch):
    module = torch.fx.symbolic_trace(lambda x: torch.neg(torch.neg(x)))
    matches = torch.fx.replace_pattern(module, lambda y: torch.neg(y), lambda y: y)
    return [[node.name for node in match.nodes_map.values()] for match in matches]


def hidden__replaced_by_another_operation(torch):
    def model(x):
        return torch.neg(torch.sin(torch.sin(torch.sin(x))))

    module = torch.fx.symbolic_trace(model)
    matches = torch.fx.replace_pattern(module, lambda y: torch.sin(y), lambda y: torch.cos(y))
    return [[(inner.name, node.name) for inner, node in match.nodes_map.items()] for match in matches]


def hidden__both_inputs_are_replaced(torch):
    def model(x, y):
        return torch.add(torch.add(x, y), torch.add(y, x))

    module = torch.fx.symbolic_trace(model)
    matches = torch.fx.replace_pattern(module, lambda a, b: torch.add(a, b), lambda a, b: torch.sub(a, b))
    maps = [[(inner.name, node.name) for inner, node in match.nodes_map.items()] for match in matches]
    return [maps, module.code]


def hidden__two_later_matches(torch):
    def model(x):
        y = torch.sin(x)
        return torch.sin(y), torch.sin(torch.relu(y)), torch.sin(y)

    module = torch.fx.symbolic_trace(model)
    matches = torch.fx.replace_pattern(module, lambda y: torch.sin(y), lambda y: torch.cos(y))
    return [[(inner.name, node.name) for inner, node in match.nodes_map.items()] for match in matches]


def hidden__nodes_that_were_put_in(torch):
    from torch.fx.subgraph_rewriter import replace_pattern_with_filters

    def model(x):
        return torch.relu(torch.sin(torch.sin(x)))

    results = []
    for replacement in (lambda y: y, lambda y: torch.exp(torch.cos(y))):
        module = torch.fx.symbolic_trace(model)
        found = replace_pattern_with_filters(module, lambda y: torch.sin(y), replacement, [])
        results.append([[node.name for node in each.replacements] for each in found])
    return results


def hidden__two_results(torch):
    def model(x):
        first, second = torch.sin(x), torch.cos(x)
        third, fourth = torch.sin(second), torch.cos(second)
        return first + third * fourth

    def pattern(y):
        return torch.sin(y), torch.cos(y)

    def replacement(y):
        return torch.neg(y), torch.abs(y)

    module = torch.fx.symbolic_trace(model)
    matches = torch.fx.replace_pattern(module, pattern, replacement)
    return [[(inner.name, node.name) for inner, node in match.nodes_map.items()] for match in matches]


def kept__code_and_results(torch):
    def model(x):
        y = torch.neg(torch.neg(x))
        return torch.neg(torch.neg(y)) + torch.relu(y)

    results = []
    for replacement in (lambda y: y, lambda y: torch.mul(y, 2)):
        module = torch.fx.symbolic_trace(model)
        matches = torch.fx.replace_pattern(module, lambda y: torch.neg(torch.neg(y)), replacement)
        results.append([module.code, module(torch.tensor([1.0, -2.0])), [match.anchor.name for match in matches]])
    return results


def kept__matches_apart(torch):
    def model(x, y):
        return torch.relu(torch.sin(x)) + torch.abs(torch.sin(y))

    module = torch.fx.symbolic_trace(model)
    matches = torch.fx.replace_pattern(module, lambda y: torch.sin(y), lambda y: torch.cos(y))
    return [[(inner.name, node.name) for inner, node in match.nodes_map.items()] for match in matches]


def kept__numbers_and_slices_as_inputs(torch):
    def model(x):
        return torch.add(torch.add(x, 2)[1:3], 5)

    def placed(pattern, replacement):
        module = torch.fx.symbolic_trace(model)
        found = torch.fx.replace_pattern(module, pattern, replacement)
        maps = [{inner.name: node for inner, node in match.nodes_map.items() if inner.name == "b"} for match in found]
        return [maps, module(torch.arange(4.0))]

    return [
        placed(lambda a, b: torch.add(a, b), lambda a, b: torch.mul(a, b)),
        placed(lambda a, b: a[b], lambda a, b: torch.neg(a[b])),
    ]


TEST = """
def test_replace_pattern_returns_current_nodes(self, torch):
    def model(x, y):
        a = torch.add(x, y)
        b = torch.add(a, x)
        return torch.add(b, y), torch.add(torch.relu(b), a)

    def pattern(v, w):
        return torch.add(v, w)

    for replacement, count in ((lambda v, w: torch.sub(v, w), 1), (lambda v, w: v, 0)):
        module = torch.fx.symbolic_trace(model)
        matches = torch.fx.subgraph_rewriter.replace_pattern_with_filters(module, pattern, replacement)
        nodes = list(module.graph.nodes)
        self.assertEqual(len(matches), 4)
        for match in matches:
            self.assertEqual([node.target for node in match.replacements], [torch.sub] * count)
            for inner, node in match.nodes_map.items():
                self.assertEqual(node in nodes, inner.op == "placeholder")
"""
PATCH = "changes the later matches at each replacement"
PULL = """replace_pattern: keep the matches up to date while nodes are replaced

All matches are found before the first replacement, so a match whose input is the result of an earlier one holds a node
that gets erased. The dictionary `match_changed_node` mended this for the copied nodes only, at the last moment, and
what is returned still had the old node. I have removed it. When a node is replaced, the inputs and the maps of all
later matches are changed at once, and then the inputs can be used as they are.

The additional loop costs a scan of the later matches for each replacement.

Test plan: for three additions of zero in a row, all sources are `x`, and the code of the module is unchanged.
"""
WRONG = {
    "*changes the map and not the inputs": [
        (
            "torch/fx/subgraph_rewriter.py",
            """                val_map[rn] = match_changed_node.get(gn, gn)
            else:
""",
            """                val_map[rn] = match_changed_node.get(gn, gn)
                for inner, n in match.nodes_map.items():
                    if n is gn:
                        match.nodes_map[inner] = val_map[rn]
            else:
""",
        )
    ],
    "*changes the match that follows": [
        (
            "torch/fx/subgraph_rewriter.py",
            "    for match in _matches:\n        if replacement_callback",
            "    for match, following in zip(_matches, [*_matches[1:], None]):\n        if replacement_callback",
        ),
        (
            "torch/fx/subgraph_rewriter.py",
            "            match_changed_node[gn] = copied_node\n",
            """            match_changed_node[gn] = copied_node
            if following is not None:
                following.placeholder_nodes = [
                    copied_node if n is gn else n for n in following.placeholder_nodes
                ]
                following.nodes_map = {
                    p: copied_node if n is gn else n
                    for p, n in following.nodes_map.items()
                }
""",
        ),
    ],
    "changes all entries at the end, also those of removed nodes": [
        (
            "torch/fx/subgraph_rewriter.py",
            "    # Update the passed-in GraphModule to reflect the new state of\n",
            """    for replaced in match_and_replacements:
        for p, n in replaced.nodes_map.items():
            if isinstance(n, Node):
                replaced.nodes_map[p] = match_changed_node.get(n, n)

    # Update the passed-in GraphModule to reflect the new state of
""",
        )
    ],
    "changes the inputs and not the map": [
        (
            "torch/fx/subgraph_rewriter.py",
            """                val_map[rn] = match_changed_node.get(gn, gn)
            else:
""",
            """                val_map[rn] = match_changed_node.get(gn, gn)
                match.placeholder_nodes[match.placeholder_nodes.index(gn)] = val_map[rn]
            else:
""",
        )
    ],
}
RIGHT = {
    "as PyTorch has it": [
        (
            "torch/fx/subgraph_rewriter.py",
            """                val_map[rn] = match_changed_node.get(gn, gn)
            else:
""",
            """                val_map[rn] = match_changed_node.get(gn, gn)
                if gn != val_map[rn]:
                    gn_ind = match.placeholder_nodes.index(gn)
                    match.placeholder_nodes[gn_ind] = match_changed_node[gn]
                    map_key = list(match.nodes_map.keys())[
                        list(match.nodes_map.values()).index(gn)
                    ]
                    match.nodes_map[map_key] = match_changed_node[gn]
            else:
""",
        )
    ],
    "changes the later matches at each replacement": [
        (
            "torch/fx/subgraph_rewriter.py",
            """    # The nodes that have been replaced so far
    match_changed_node: dict[Node, Node] = {}

    match_and_replacements = []
    for match in _matches:
""",
            """    match_and_replacements = []
    for number, match in enumerate(_matches):
""",
        ),
        (
            "torch/fx/subgraph_rewriter.py",
            """        val_map: dict[Node, Node] = {}
        for rn, gn in zip(replacement_placeholders, match.placeholder_nodes):
            if isinstance(gn, Node):
                val_map[rn] = match_changed_node.get(gn, gn)
            else:
                val_map[rn] = gn
""",
            """        val_map: dict[Node, Node] = dict(
            zip(replacement_placeholders, match.placeholder_nodes)
        )
""",
        ),
        (
            "torch/fx/subgraph_rewriter.py",
            """            # pyrefly: ignore [unsupported-operation]
            match_changed_node[gn] = copied_node
""",
            """            for later in _matches[number + 1 :]:
                later.placeholder_nodes = [
                    copied_node if n is gn else n for n in later.placeholder_nodes
                ]
                for inner, n in later.nodes_map.items():
                    if n is gn:
                        later.nodes_map[inner] = copied_node
""",
        ),
    ],
    "goes through the map before the inputs are used": [
        (
            "torch/fx/subgraph_rewriter.py",
            """        val_map: dict[Node, Node] = {}
        for rn, gn in zip(replacement_placeholders, match.placeholder_nodes):
""",
            """        val_map: dict[Node, Node] = {}
        for inner, gn in match.nodes_map.items():
            if isinstance(gn, Node):
                match.nodes_map[inner] = match_changed_node.get(gn, gn)
        for i, gn in enumerate(match.placeholder_nodes):
            if isinstance(gn, Node):
                match.placeholder_nodes[i] = match_changed_node.get(gn, gn)
        for rn, gn in zip(replacement_placeholders, match.placeholder_nodes):
""",
        )
    ],
}
