"""The trusted process that owns a GPU: it replays launch plans, without torch and without Triton."""
