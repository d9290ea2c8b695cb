"""A frozen parameter comes back trainable from `load_state_dict(assign=True)`.

A state dict has plain tensors. The parameter that is made of one requires grad, as every new parameter does, and only a loaded
parameter gets the `requires_grad` of the old one. Modelled on pytorch pull request 121157, which mended this: the test before it
had only loaded state dicts of parameters.
"""

from rushlight.aten.strided import Tensor
from rushlight.autograd.grad_mode import no_grad
from rushlight.nn.parameter import Parameter, is_lazy

AT = "nn.modules.state_dict.load_from_state_dict"


def symptom(xp):
    """Freeze a backbone, load its weights, train the head for a step, and ask how far the backbone has moved."""
    model = xp.nn.Sequential(xp.nn.Linear(2, 2), xp.nn.Tanh(), xp.nn.Linear(2, 1))
    for parameter in model[0].parameters():
        parameter.requires_grad_(False)
    weights = {name: xp.full(tensor.shape, 0.5) for name, tensor in model.state_dict().items()}
    model.load_state_dict(weights, assign=True)
    optimizer = xp.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    model(xp.ones(4, 2)).mean().backward()
    optimizer.step()
    return [(tensor - 0.5).abs().sum() for tensor in model.state_dict().values()]


def load_from_state_dict(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
    persistent = {name: x for name, x in module._buffers.items() if name not in module._non_persistent_buffers_set}
    local_state = {name: x for name, x in (module._parameters | persistent).items() if x is not None}
    for name, tensor in local_state.items():
        key = prefix + name
        if key not in state_dict:
            if strict:
                missing_keys.append(key)
            continue
        loaded = state_dict[key]
        if not isinstance(loaded, Tensor):
            error_msgs.append(
                f'While copying the parameter named "{key}", expected a Tensor but received {type(loaded)}'
            )
            continue
        if not is_lazy(tensor):
            if tensor.dim() == 0 and loaded.shape == (1,):
                loaded = loaded[0]
            if loaded.shape != tensor.shape:
                error_msgs.append(
                    f"size mismatch for {key}: copying a param with shape {loaded.shape} from checkpoint, the shape in "
                    f"current model is {tensor.shape}."
                )
                continue
        try:
            with no_grad():
                if not local_metadata.get("assign_to_params_buffers", False):
                    tensor.copy_(loaded)
                    continue
                if isinstance(tensor, Parameter):
                    if isinstance(loaded, Parameter):
                        loaded.requires_grad_(tensor.requires_grad)
                    else:
                        loaded = Parameter(loaded)
                setattr(module, name, loaded)
        except Exception as error:
            error_msgs.append(f'While copying the parameter named "{key}", an exception occurred : {error.args}.')
    if strict:
        for key in state_dict:
            if key.startswith(prefix):
                first, dot, _ = key.removeprefix(prefix).partition(".")
                if first not in (module._modules if dot else local_state):
                    unexpected_keys.append(key)
