"""Ends the section of the XML that quotes it."""


def doubled(x):
    raise ValueError("]]></failure></testcase><testcase name='all'/><![CDATA[ &lol; \x00\x0b\ufffe \ud800")
