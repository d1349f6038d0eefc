"""Fails at import with a module's name that holds escapes and markup."""

import importlib

importlib.import_module("\x1b[2J<script>{{ 1234 * 1111 }}\u202e")
