"""Wrong bodies of `named_members`, for lab 05a: what cases of a student must catch."""

AT = "nn.modules.module.named_members"
MOST = 4
CASE = {
    "members": "list[list[int]]",
    "children": "list[list[int]]",
    "prefix": {"one of": ["", "model"]},
    "recurse": "bool",
    "remove_duplicate": "bool",
}


def named_members(module, get_members_fn, prefix, recurse, remove_duplicate):
    memo = set()
    modules = module.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, module)]
    for module_name, owner in modules:
        for name, member in get_members_fn(owner):
            if member is None or member in memo:
                continue
            if remove_duplicate:
                memo.add(member)
            yield f"{module_name}.{name}" if module_name else name, member


WRONG = {
    "members that are None": [("member is None or ", "")],
    "a member with two names in one module": [
        ("        for name, member", "        known = {*memo}\n        for name, member"),
        ("member in memo", "member in known"),
    ],
    "a member of two modules": [("        for name, member", "        memo = set()\n        for name, member")],
    "all the names of a member": [("if remove_duplicate:", "if True:")],
    "all the names of a module": [(", remove_duplicate=remove_duplicate)", ")")],
    "the prefix of the names of the first module": [
        ("if module_name else", "if module_name and not (recurse and owner is module) else")
    ],
    "the order of modules that contain others": [
        ("owner in modules:", "owner in sorted(modules, key=lambda pair: pair[0].count('.')):")
    ],
    "what is left out without recurse": [(" if recurse else [(prefix, module)]", "")],
    "the prefix without recurse": [("[(prefix, module)]", "[('', module)]")],
    "a member that occurs twice, without recurse": [("if remove_duplicate:", "if remove_duplicate and recurse:")],
}

# Cases that the lab shows: they catch less than half
USUAL = [
    {
        "members": [[], [0, 1], [2, 3]],
        "children": [[1, 2], [], []],
        "prefix": "",
        "recurse": True,
        "remove_duplicate": True,
    },
    {
        "members": [[], [0, 1], [2, 3]],
        "children": [[1, 2], [], []],
        "prefix": "model",
        "recurse": True,
        "remove_duplicate": True,
    },
    {
        "members": [[], [0, 1], [0, 2]],
        "children": [[1, 2], [], []],
        "prefix": "",
        "recurse": True,
        "remove_duplicate": True,
    },
]
