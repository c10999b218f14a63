"""How numba compiles helpers: as parts of the kernels that call them, and only once.

By default numba optimises every function by itself and turns it into machine code, together with
all functions that it calls. A helper is then compiled again with each function above it, and its
own machine code is never run, because the kernels have theirs inlined. Here a helper ends as LLVM
code that has not been optimised, and the kernels optimise it as a part of themselves.
"""

import gc
from contextlib import contextmanager

from numba import _dynfunc
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompilerBase, DefaultPassBuilder, _LowerResult
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering

USED = ("_raise_if_finalized", "_get_module_for_linking", "_finalize_dynamic_globals")
"""Methods of numba that are used here although numba does not promise to keep them."""

# Better now than in the middle of a compilation: the importer then goes on without this module.
if missing := [name for name in USED if not hasattr(JITCodeLibrary, name)]:
    raise ImportError(f"this version of numba has no {missing[0]}")


class PartLibrary(JITCodeLibrary):
    """LLVM code that can be linked into a kernel but not run by itself."""

    def finalize(self):
        """Link in what the helper calls, without numba's slow steps: optimising and compiling."""
        self._raise_if_finalized()
        # Each library once, in a fixed order, because the generated code depends on the order.
        for library in dict.fromkeys(self._linking_libraries):
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class PartLowering(NativeLowering):
    """numba's step from typed code to LLVM code, for helpers."""

    _name = "part_lowering"

    def run_pass(self, state):
        state.library = PartLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        # Otherwise numba would ask for the address of the helper's machine code, of which there is
        # none.
        state.flags.no_compile = True
        super().run_pass(state)
        state.library.finalize()
        lowered = state["cr"]
        description = lowered.fndesc
        # Callers find a function by this object. It has no address, and Python cannot call it, just
        # as with every function that has no wrapper for Python.
        entry = _dynfunc.make_function(
            description.lookup_module(),
            description.qualname.split(".")[-1],
            f"part of kernels: {description.qualname}",
            0,
            lowered.env,
            (state.library,),
        )
        state.targetctx.insert_user_function(entry, description, [state.library])
        state["cr"] = _LowerResult(description, lowered.call_helper, entry, lowered.env)
        return True


@contextmanager
def no_garbage_collection():
    """Pause Python's search for garbage, which takes a tenth of the compile time and finds nothing.

    Compiling makes millions of objects, and nearly all of them are still in use when it ends.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class KernelCompiler(Compiler):
    """numba's compiler, with garbage collection paused while a kernel and its parts are made."""

    def compile_extra(self, func):
        with no_garbage_collection():
            return super().compile_extra(func)


class PartCompiler(CompilerBase):
    """numba's compiler with :class:`PartLowering` in place of its own step to machine code."""

    def define_pipelines(self):
        steps = DefaultPassBuilder.define_nopython_pipeline(self.state)
        steps.passes = [
            (PartLowering if step is NativeLowering else step, about)
            for step, about in steps.passes
        ]
        steps.finalize()
        return [steps]
