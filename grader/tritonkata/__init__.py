"""Drills for Triton kernels of the softmax family, and the grader that checks them."""

__version__ = "0.1.0"
