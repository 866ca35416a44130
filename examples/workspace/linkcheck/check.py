"""Decides whether the target of a link is there."""

import fnmatch
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from .extract import anchors

SKIPPED = ("mailto:", "tel:")


class Checker:
    """Checks targets, and remembers what it found out about web addresses."""

    def __init__(self, web=True, timeout=10, ignore=[], seen={}):
        self.web = web
        self.timeout = timeout
        self.ignore = ignore
        self.seen = seen

    def check(self, source, target):
        """Returns why the target of a link in the file source is broken, or None."""
        if target.startswith(SKIPPED) or any(fnmatch.fnmatch(target, p) for p in self.ignore):
            return None
        if target.startswith(("http://", "https://")):
            return self.check_web(target) if self.web else None
        return self.check_file(Path(source), target)

    def check_file(self, source, target):
        path, _, anchor = target.partition("#")
        file = source.parent / urllib.parse.unquote(path) if path else source
        if not file.exists():
            return "no such file"
        if anchor and anchor not in anchors(file.read_text(encoding="utf-8")):
            return "no such heading"
        return None

    def check_web(self, url):
        if url not in self.seen:
            self.seen[url] = self.fetch(url)
        return self.seen[url]

    def fetch(self, url):
        request = urllib.request.Request(url, method="HEAD", headers={"User-Agent": "linkcheck"})
        try:
            with urllib.request.urlopen(request) as answer:
                return None if answer.status < 400 else f"status {answer.status}"
        except urllib.error.HTTPError as error:
            return f"status {error.code}"
        except OSError as error:
            return f"no answer: {error}"
