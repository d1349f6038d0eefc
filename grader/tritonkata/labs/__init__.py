"""The course's labs: worked kernels side by side, measured by the engines that grade submissions."""
