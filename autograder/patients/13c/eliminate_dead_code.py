"""Other bodies of `eliminate_dead_code` for the examination of a check: right ones, and wrong ones with what each does wrong."""

AT = "fx.passes.eliminate_dead_code"


def right__round_by_round(graph, is_impure_node=None):
    graph.lint()
    changed, again = False, True
    while again:
        again = False
        for node in [*graph.nodes]:
            impure = node.is_impure() if is_impure_node is None else is_impure_node(node)
            if not node.users and not impure:
                graph.erase_node(node)
                changed = again = True
    return changed


def right__what_is_needed(graph, is_impure_node=None):
    graph.lint()
    decide = (lambda node: node.is_impure()) if is_impure_node is None else is_impure_node
    waiting = [node for node in graph.nodes if decide(node)]
    needed = set()
    while waiting:
        node = waiting.pop()
        if node not in needed:
            needed.add(node)
            waiting.extend(node.all_input_nodes)
    dead = [node for node in graph.nodes if node not in needed]
    for node in dead[::-1]:
        graph.erase_node(node)
    return bool(dead)


def right__named_nodes(graph, is_impure_node=None):
    graph.lint()
    removed = set()
    for node in list(graph.nodes)[::-1]:
        if len(node.users) > 0:
            continue
        if node.is_impure() if is_impure_node is None else is_impure_node(node):
            continue
        removed.add(node.name)
        graph.erase_node(node)
    return len(removed) > 0


def wrong__from_the_first_node(graph, is_impure_node=None):
    """The nodes are visited from the first to the last, so a node whose only user is erased stays."""
    graph.lint()
    count = len(graph.nodes)
    for node in list(graph.nodes):
        impure = node.is_impure() if is_impure_node is None else is_impure_node(node)
        if not impure and not node.users:
            graph.erase_node(node)
    return len(graph.nodes) < count


def wrong__effects_erased(graph, is_impure_node=None):
    """A call that writes to its argument, or that draws random numbers, is erased if nothing uses its result."""
    graph.lint()
    count = len(graph.nodes)
    for node in reversed(graph.nodes):
        impure = node.op in ("placeholder", "output") if is_impure_node is None else is_impure_node(node)
        if not impure and not node.users:
            graph.erase_node(node)
    return len(graph.nodes) < count


def wrong__inputs_erased(graph, is_impure_node=None):
    """An input that nothing uses is erased, so the function has fewer parameters."""
    graph.lint()
    count = len(graph.nodes)
    for node in reversed(graph.nodes):
        impure = node.is_impure() if is_impure_node is None else is_impure_node(node)
        if not node.users and (not impure or node.op == "placeholder" and is_impure_node is None):
            graph.erase_node(node)
    return len(graph.nodes) < count


def wrong__given_function_only_adds(graph, is_impure_node=None):
    """A given function can only keep more nodes: what is impure as usual stays too."""
    graph.lint()
    count = len(graph.nodes)
    for node in reversed(graph.nodes):
        impure = node.is_impure() or is_impure_node is not None and is_impure_node(node)
        if not impure and not node.users:
            graph.erase_node(node)
    return len(graph.nodes) < count


def wrong__always_changed(graph, is_impure_node=None):
    """The result is always True, also if no node was erased."""
    graph.lint()
    for node in reversed(graph.nodes):
        impure = node.is_impure() if is_impure_node is None else is_impure_node(node)
        if not impure and not node.users:
            graph.erase_node(node)
    return True


def wrong__order_not_checked(graph, is_impure_node=None):
    """A graph in which a node is used before it is defined is accepted."""
    count = len(graph.nodes)
    for node in reversed(graph.nodes):
        impure = node.is_impure() if is_impure_node is None else is_impure_node(node)
        if not impure and not node.users:
            graph.erase_node(node)
    return len(graph.nodes) < count


def wrong__attributes_stay(graph, is_impure_node=None):
    """A node that reads an attribute stays, also if nothing uses it."""
    graph.lint()
    count = len(graph.nodes)
    for node in reversed(graph.nodes):
        impure = node.is_impure() if is_impure_node is None else is_impure_node(node)
        if not impure and not node.users and node.op != "get_attr":
            graph.erase_node(node)
    return len(graph.nodes) < count


def wrong__stops_at_a_node_that_stays(graph, is_impure_node=None):
    """Of the calls, only the dead ones after the last one that stays are erased."""
    graph.lint()
    count = len(graph.nodes)
    for node in reversed(graph.nodes):
        impure = node.is_impure() if is_impure_node is None else is_impure_node(node)
        if node.users:
            break
        if not impure:
            graph.erase_node(node)
    return len(graph.nodes) < count
