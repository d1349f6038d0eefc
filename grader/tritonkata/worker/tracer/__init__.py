"""The process that runs a submission on stand-in tensors and hands back a launch plan. It is not trusted."""
