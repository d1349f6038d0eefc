"""Turns the line around with marks of right-to-left writing."""


def doubled(x):
    raise ValueError("\u202egnp.ssap\u2066 \u200f 5/5 \u2069\u200b\ufeff\U000e0041")
