"""A kernel is compiled, cached, free of the GIL, and divides as NumPy does."""

import math

from fairtrial.kernels.compiling import kernel


@kernel
def quotient(a: float, b: float) -> float:
    return a / b


def test_a_kernel_equals_its_python_function():
    assert quotient(3.0, 4.0) == quotient.py_func(3.0, 4.0) == 0.75


def test_division_by_zero_does_not_raise():
    assert quotient(1.0, 0.0) == math.inf
    assert math.isnan(quotient(0.0, 0.0))


def test_a_kernel_lets_other_threads_run():
    assert quotient.targetoptions["nogil"]


def test_a_kernel_keeps_its_name_and_docstring():
    assert quotient.__name__ == "quotient"
