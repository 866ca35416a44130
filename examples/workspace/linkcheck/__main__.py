"""The command line: which files, which checks, and the report."""

import argparse
import sys
from pathlib import Path

from .check import Checker
from .extract import links


def markdown_files(paths):
    """Yields the Markdown files among the paths and below the folders."""
    for path in map(Path, paths):
        if path.is_dir():
            yield from sorted(path.rglob("*.md"))
        else:
            yield path


def main(argv=None):
    parser = argparse.ArgumentParser(prog="linkcheck", description=__doc__)
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--no-web", action="store_true", help="check no web addresses")
    parser.add_argument("--timeout", type=float, default=10, metavar="SECONDS")
    parser.add_argument("--ignore", action="append", default=[], metavar="PATTERN")
    args = parser.parse_args(argv)

    checker = Checker(web=not args.no_web, timeout=args.timeout, ignore=args.ignore)
    broken = 0
    for path in markdown_files(args.paths):
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            print(f"{path}:1: cannot be read: {error}")
            broken += 1
            continue
        for line, target in links(text):
            reason = checker.check(path, target)
            if reason:
                print(f"{path}:{line}: {target}: {reason}")
                broken += 1
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
