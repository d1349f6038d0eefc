"""Is no Python, in a line that holds escapes, markup and a template."""

def doubled(x):
    return "[2J <script>alert(1)</script> {{ 1234 * 1111 }} ‮" +* x
