"""Finds links and headings in Markdown text."""

import re

FENCE = re.compile(r"^\s*(```|~~~)")
INLINE_CODE = re.compile(r"`[^`]*`")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)[^)]*\)")
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$")


def prose(text):
    """Yields (line number, line) for the lines outside of fenced code blocks.

    Inline code is blanked out, so that links in it are not found.
    """
    fence = None
    for number, line in enumerate(text.splitlines(), start=1):
        mark = FENCE.match(line)
        if mark and fence is None:
            fence = mark.group(1)
        elif mark and mark.group(1) == fence:
            fence = None
        elif fence is None:
            yield number, INLINE_CODE.sub("", line)


def links(text):
    """Yields (line number, target) for each inline link.

    Reference links such as [text][name] are not found.
    """
    for number, line in prose(text):
        for match in LINK.finditer(line):
            yield number, match.group(1)


def anchors(text):
    """Returns the anchors of all headings, as GitHub makes them."""
    found = set()
    for _, line in prose(text):
        match = HEADING.match(line)
        if match:
            title = re.sub(r"[^\w\- ]", "", match.group(1).lower())
            found.add(title.replace(" ", "-"))
    return found
