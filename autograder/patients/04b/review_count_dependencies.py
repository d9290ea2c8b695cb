"""Changes to `count_dependencies`, for the review of lab 04b."""

AT = "autograd.engine.count_dependencies"
CASE = {"edges": ("lists", 3), "roots": ("numbers", 2)}


def count_dependencies(roots):
    dependencies = {root: 0 for root in roots}
    waiting = list(dependencies)
    while waiting:
        for node, _ in waiting.pop().next_edges:
            if node is None:
                continue
            if node in dependencies:
                dependencies[node] += 1
            else:
                dependencies[node] = 1
                waiting.append(node)
    return dependencies


RIGHT = {
    # the counts do not depend on the order in which nodes are visited
    "b": [("waiting.pop()", "waiting.pop(0)")],
    # a node without an entry is visited, and then it gets one in any case
    "d": [
        (
            "            if node in dependencies:\n                dependencies[node] += 1\n            else:\n"
            "                dependencies[node] = 1\n                waiting.append(node)\n",
            "            if node not in dependencies:\n                waiting.append(node)\n"
            "            dependencies[node] = dependencies.get(node, 0) + 1\n",
        )
    ],
}
WRONG = {
    # equal edges are counted separately
    "a": [
        (
            "        for node, _ in waiting.pop().next_edges:\n",
            "        for node in {edge.node for edge in waiting.pop().next_edges}:\n",
        )
    ],
    # a root has a count of 0 and waits already, so its edges would be counted twice
    "c": [("if node in dependencies:", "if dependencies.get(node):")],
    # a root that occurs twice is one root
    "e": [
        ("    dependencies = {root: 0 for root in roots}\n", "    waiting = list(roots)\n"),
        ("    waiting = list(dependencies)\n", "    dependencies = dict.fromkeys(waiting, 0)\n"),
    ],
}
