"""A program knows whether it is captured or exported, as in torch."""

from importlib import import_module

from both import agree


def test_a_captured_call_knows_it():
    def program(xp):
        def function(x):
            return x + 1 if xp.compiler.is_compiling() else x - 1

        def captured(x):
            return x + 1 if xp.compiler.is_dynamo_compiling() else x - 1

        x = xp.zeros(1)
        plain, seen = xp.compiler.disable(function), [function(x)]
        xp.compiler.reset()
        seen += [xp.compiler.compile(each, backend="eager")(x) for each in (function, captured, lambda x: plain(x) * 2)]
        return [*seen, function(x), xp.compiler.is_exporting()]

    agree(program)


def test_an_exported_call_knows_it():
    def program(xp):
        class Flags(xp.nn.Module):
            def forward(self, x):
                flags = xp.compiler.is_compiling(), xp.compiler.is_exporting(), xp.compiler.is_dynamo_compiling()
                return x + sum(2**i for i, flag in enumerate(flags) if flag)

        export = import_module(f"{xp.__name__}.export").export
        return export(Flags(), (xp.zeros(1),)).module()(xp.zeros(1)), xp.compiler.is_exporting()

    agree(program)
