"""Puts a script and an image into the text of an error."""


def doubled(x):
    raise ValueError("<script>alert(1)</script><img src=x onerror=alert(2)></pre></table><!--")
