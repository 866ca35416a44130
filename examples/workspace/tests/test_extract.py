import unittest

from linkcheck.extract import anchors, links


class Links(unittest.TestCase):
    def found(self, text):
        return list(links(text))

    def test_inline_link(self):
        self.assertEqual(self.found("see [this](a.md)"), [(1, "a.md")])

    def test_title_is_no_part_of_the_target(self):
        self.assertEqual(self.found('[x](a.md "A title")'), [(1, "a.md")])

    def test_two_on_a_line(self):
        self.assertEqual(self.found("[a](1.md) [b](2.md)"), [(1, "1.md"), (1, "2.md")])

    def test_fenced_code_is_skipped(self):
        self.assertEqual(self.found("```\n[a](1.md)\n```\n[b](2.md)"), [(4, "2.md")])

    def test_a_fence_of_another_kind_does_not_close(self):
        self.assertEqual(self.found("~~~\n```\n[a](1.md)\n~~~\n"), [])

    def test_inline_code_is_skipped(self):
        self.assertEqual(self.found("`[a](1.md)`"), [])


class Anchors(unittest.TestCase):
    def test_as_github_makes_them(self):
        self.assertEqual(anchors("# What is checked?\n## A b\n"), {"what-is-checked", "a-b"})


if __name__ == "__main__":
    unittest.main()
