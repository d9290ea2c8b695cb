"""An executor without threads."""

from concurrent.futures import Executor, Future


class AtOnce(Executor):
    """Runs what is submitted before `submit` returns.

    No class is marked in two threads of one process: CPython counts the depth of all syntax trees in one place, and while the
    garbage collector calls Python in the midst of one, as Hypothesis has it do, another thread may begin a tree. The first then
    ends as "AST constructor recursion depth mismatch".
    """

    def submit(self, step, /, *arguments, **names):
        future = Future()
        try:
            future.set_result(step(*arguments, **names))
        except Exception as error:
            future.set_exception(error)
        return future
