"""TransformerEncoder in eval mode: the outputs with and without torch.no_grad() differ

I validate an `nn.TransformerEncoder` on 2.13.0 (Linux, CPU) and found that its outputs depend on whether I call it
under `torch.no_grad()`. The encoder is in eval mode, its dropout is 0, the weights and the input are the same: I
expected the two outputs to agree up to rounding. They differ by a tenth and more, in each batch. The program below
shows it; it should say True and says False.

What I tried: one `nn.TransformerEncoderLayer` of the same kind, called by itself, gives the same output both ways. So
does an encoder whose layers have the default arguments, except for `batch_first` and the sizes. After
`torch.backends.mha.set_fastpath_enabled(False)` the encoder agrees with itself, but then its two outputs are both
those of the call with gradients, and I believe these to be the wrong ones. Other values of `enable_nested_tensor`, of
`norm_first` and of the number of layers do not help. I did not load any weights.
"""

ABOUT = (
    "When a TransformerEncoderLayer is copied or unpickled, an activation that is a module counts as missing (it is"
    " in _modules, not in the state itself) and relu is put before it. Modelled on pytorch pull request 81832 "
    "(describes and mends just this) and 82094 (the same for a release)."
)
AT = ("torch/nn/modules/transformer.py", "TransformerEncoderLayer.__setstate__")
FAULT = [
    (
        "torch/nn/modules/transformer.py",
        """        super().__setstate__(state)
        if not hasattr(self, "activation"):
            self.activation = F.relu
""",
        """        if "activation" not in state:
            state["activation"] = F.relu
        super().__setstate__(state)
""",
    )
]
NEEDS = {"torch/nn/modules/transformer.py"}
STATEMENTS = 6
LINES = 18
LINK = (
    "TransformerEncoder.__init__ -> _get_clones -> copy.deepcopy -> TransformerEncoderLayer.__setstate__ -> "
    "Module.__setstate__; later _ff_block calls self.activation. Dead end: the choice of the fast path in "
    "TransformerEncoderLayer.forward, which reads activation_relu_or_gelu and is right."
)


def symptom(torch):
    layer = torch.nn.TransformerEncoderLayer(
        d_model=8,
        nhead=2,
        dim_feedforward=32,
        dropout=0.0,
        activation=torch.nn.GELU(),
        batch_first=True,
    )
    encoder = torch.nn.TransformerEncoder(layer, num_layers=2)
    encoder.eval()
    batch = torch.randn(4, 6, 8)
    training_path = encoder(batch)
    with torch.no_grad():
        validation_path = encoder(batch)
    return torch.allclose(training_path, validation_path, atol=1e-4)


def reproduced(torch):
    layer = torch.nn.TransformerEncoderLayer(4, 2, activation=torch.nn.Tanh())
    encoder = torch.nn.TransformerEncoder(layer, 1)
    return isinstance(encoder.layers[0].activation, torch.nn.Tanh)


def hidden__other_modules_than_gelu(torch):
    results = []
    for activation in (
        torch.nn.Tanh(),
        torch.nn.SiLU(),
        torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.Sigmoid()),
    ):
        layer = torch.nn.TransformerEncoderLayer(8, 2, 16, 0.0, activation=activation)
        encoder = torch.nn.TransformerEncoder(layer, 2)
        batch = torch.randn(5, 3, 8)
        results.append(torch.allclose(encoder(batch), layer(layer(batch)), atol=1e-5))
    return results


def hidden__each_layer_trains_its_own(torch):
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, 0.0, activation=torch.nn.PReLU(init=0.1))
    encoder = torch.nn.TransformerEncoder(layer, 3)
    encoder(torch.randn(5, 3, 8)).square().sum().backward()
    weights = [one.activation.weight for one in encoder.layers]
    return [len({id(w) for w in weights}), [w.grad is not None for w in weights], layer.activation.weight.grad is None]


def hidden__deepcopy_of_a_model(torch):
    import copy

    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, 0.0, activation=torch.nn.ELU())
    model = torch.nn.ModuleDict({"inner": layer})
    batch = torch.randn(5, 3, 8)
    twin = copy.deepcopy(copy.deepcopy(model))
    return [torch.allclose(twin["inner"](batch), layer(batch), atol=1e-6), repr(twin["inner"].activation)]


def hidden__pickled(torch):
    import pickle

    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, 0.0, activation=torch.nn.Softplus(beta=2.0))
    batch = torch.randn(5, 3, 8)
    back = pickle.loads(pickle.dumps(layer))
    return [torch.allclose(back(batch), layer(batch), atol=1e-6), repr(back.activation)]


def hidden__shallow_copy(torch):
    import copy

    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, 0.0, activation=torch.nn.Tanh())
    batch = torch.randn(5, 3, 8)
    twin = copy.copy(layer)
    return [torch.allclose(twin(batch), layer(batch), atol=1e-6), twin.activation is layer.activation]


def kept__old_state_means_relu(torch):
    import copy

    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, 0.0)
    state = copy.deepcopy(layer.__dict__)
    del state["activation"]
    back = torch.nn.TransformerEncoderLayer.__new__(torch.nn.TransformerEncoderLayer)
    back.__setstate__(state)
    batch = torch.randn(5, 3, 8)
    return [back.activation is torch.nn.functional.relu, torch.allclose(back(batch), layer(batch), atol=1e-6)]


def kept__functions_are_copied(torch):
    import copy

    results = []
    for activation in ("gelu", torch.nn.functional.silu, torch.sin):
        layer = torch.nn.TransformerEncoderLayer(8, 2, 16, 0.0, activation=activation)
        twin = copy.deepcopy(layer)
        batch = torch.randn(5, 3, 8)
        results.append([twin.activation is layer.activation, torch.allclose(twin(batch), layer(batch), atol=1e-6)])
    return results


def kept__activation_is_a_child(torch):
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, 0.0, activation=torch.nn.PReLU())
    layer.double()
    return [
        [name for name in layer.state_dict() if "activation" in name],
        [name for name, child in layer.named_children() if child is layer.activation],
        str(layer.activation.weight.dtype),
    ]


TEST = """
def test_encoder_layer_copies_keep_their_activation_module(self, torch):
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, 0.0, activation=torch.nn.Tanh())
    encoder = torch.nn.TransformerEncoder(layer, 2)
    x = torch.randn(5, 3, 8)
    for copied in encoder.layers:
        self.assertIsInstance(copied.activation, torch.nn.Tanh)
        self.assertIsNot(copied.activation, layer.activation)
    self.assertEqual(encoder(x), layer(layer(x)))
"""
WRONG = {
    "trusts that each state has an activation": [
        (
            "torch/nn/modules/transformer.py",
            """            self.activation_relu_or_gelu = 0
        self.activation = activation

    def __setstate__(self, state):
        if "activation" not in state:
            state["activation"] = F.relu
        super()""",
            """            self.activation_relu_or_gelu = 0
        self.activation = activation

    def __setstate__(self, state):
        super()""",
        )
    ],
    "*chooses between relu and gelu by the layer's flag": [
        (
            "torch/nn/modules/transformer.py",
            """            self.activation_relu_or_gelu = 0
        self.activation = activation

    def __setstate__(self, state):
        if "activation" not in state:
            state["activation"] = F.relu
""",
            """            self.activation_relu_or_gelu = 0
        self.activation = activation

    def __setstate__(self, state):
        if "activation" not in state:
            is_gelu = state.get("activation_relu_or_gelu") == 2
            state["activation"] = F.gelu if is_gelu else F.relu
""",
        )
    ],
    "*the encoder hands its layer's activation to the copies": [
        (
            "torch/nn/modules/transformer.py",
            """        self.layers = _get_clones(encoder_layer, num_layers)
""",
            """        self.layers = _get_clones(encoder_layer, num_layers)
        if hasattr(encoder_layer, "activation"):
            for layer in self.layers:
                layer.activation = encoder_layer.activation
""",
        )
    ],
    "keeps a module out of the children": [
        (
            "torch/nn/modules/transformer.py",
            """            self.activation_relu_or_gelu = 0
        self.activation = activation
""",
            """            self.activation_relu_or_gelu = 0
        self.__dict__["activation"] = activation
""",
        )
    ],
    "the function that copies takes the children over": [
        (
            "torch/nn/modules/transformer.py",
            """    return ModuleList([copy.deepcopy(module) for i in range(N)])
""",
            """    clones = ModuleList([copy.deepcopy(module) for i in range(N)])
    for clone in clones:
        for name, child in module.named_children():
            setattr(clone, name, copy.deepcopy(child))
    return clones
""",
        )
    ],
}
RIGHT = {
    "as PyTorch has it": [
        (
            "torch/nn/modules/transformer.py",
            """            self.activation_relu_or_gelu = 0
        self.activation = activation

    def __setstate__(self, state):
        if "activation" not in state:
            state["activation"] = F.relu
        super().__setstate__(state)
""",
            """            self.activation_relu_or_gelu = 0
        self.activation = activation

    def __setstate__(self, state):
        super().__setstate__(state)
        if not hasattr(self, "activation"):
            self.activation = F.relu
""",
        )
    ],
    "looks among the modules of the state, too": [
        (
            "torch/nn/modules/transformer.py",
            """            self.activation_relu_or_gelu = 0
        self.activation = activation

    def __setstate__(self, state):
        if "activation" not in state:
""",
            """            self.activation_relu_or_gelu = 0
        self.activation = activation

    def __setstate__(self, state):
        if "activation" not in state and "activation" not in state["_modules"]:
""",
        )
    ],
    "asks for the attribute and leaves the given state alone": [
        (
            "torch/nn/modules/transformer.py",
            """            self.activation_relu_or_gelu = 0
        self.activation = activation

    def __setstate__(self, state):
        if "activation" not in state:
            state["activation"] = F.relu
        super().__setstate__(state)
""",
            """            self.activation_relu_or_gelu = 0
        self.activation = activation

    def __setstate__(self, state):
        super().__setstate__(dict(state))
        try:
            self.activation
        except AttributeError:
            self.activation = F.relu
""",
        )
    ],
}
