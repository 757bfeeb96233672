"""The small matcher reads GBNF as llama.cpp does."""

import pytest

from langchain_custom_agents.testing.gbnf import GBNF

LIST = r"""
# a list of things, one on a line
root ::= (
    "- " thing   # what it is
    "\n"
)+
thing ::= [^\n\x2D] [^\n]* |
    "\u65E5\U0000672C" | ""
"""


@pytest.mark.parametrize(
    ("grammar", "admitted", "refused"),
    [
        (LIST, ["- a\n", "- a-b\n- 日本\n", "- \n"], ["", "- -\n", "- a"]),
        (r'root ::= "a"{2}', ["aa"], ["a", "aaa"]),
        (r'root ::= "a"{2,}', ["aa", "aaaa"], ["a"]),
        (r'root ::= "ab"{0,2} "c"?', ["", "ab", "ababc", "c"], ["abab" + "ab", "cc"]),
        (r"root ::= [a-c]{1,3} .", ["abcd", "a\n"], ["a", "d"]),
        (r"root ::= [\]\[\\^-]+", ["]", "[", "\\", "^-"], ["a", ""]),
        (r'root ::= "\"\t\\\x41"', ['"\t\\A'], ["x"]),
        ('root ::= a | b\na ::= "x" b\nb ::= "(" a? ")"', ["()", "x(x())"], ["x", "(x"]),
        ("root ::= [^\\x00-\\U0010FFFF] | [k]", ["k"], ["", "a"]),
        ("root ::= | [k]", ["", "k"], ["kk"]),
        ('root ::= ("a" | ("b" "c")*){2}', ["", "a", "abc", "aa", "bcbc"], ["ab", "aaa"]),
    ],
)  # fmt: skip
def test_a_text_is_admitted_by_what_the_grammar_says(grammar, admitted, refused):
    """Sequences, choices, sets, escapes, groups and repetitions mean what is documented."""
    found = GBNF(grammar)

    assert [text for text in admitted if not found.admits(text)] == []
    assert [text for text in refused if found.admits(text)] == []


def test_it_is_told_how_far_a_text_is_admitted():
    """The first character that the grammar does not go on with, or the end that is none."""
    found = GBNF('root ::= "abc"')

    assert [found.refused_at(text) for text in ("abc", "abd", "ab", "abcd")] == [None, 2, 2, 3]


@pytest.mark.parametrize(
    ("grammar", "reason"),
    [
        ('root ::= "a', "broken at"),
        ('root ::= "\\q"', "broken at"),
        ("root ::= a_b", "broken at"),
        ("root ::= [", "broken at"),
        ("root ::= []", "holds no character"),
        ("root ::= *", "nothing to repeat"),
        ('root ::= ("a"', "not closed"),
        ('root ::= "a") "b"', "line break"),
        ('"a"', "::= is expected"),
        ('start ::= "a"', "no rule named root"),
        ("root ::= a", "refers to 'a'"),
        ('root ::= "a"\nroot ::= "b"', "said twice"),
        ('root ::= a "x"\na ::= "y"? root', "begin with itself"),
        ('root ::= ("a"*)*', "begin with itself"),
        ('root ::= "a"{2001}', "too often"),
        ('root ::= ("a" | ("b" | "c")){1001}', "too often"),
    ],
)
def test_what_llama_cpp_refuses_is_refused(grammar, reason):
    """A grammar that the engine would not take is refused, and it is said why."""
    with pytest.raises(ValueError, match=reason):
        GBNF(grammar)


def test_more_than_two_thousand_repetitions_are_no_limit():
    """That is how llama.cpp reads a limit beyond its own."""
    assert GBNF('root ::= "a"{1,2001}').admits("a" * 2500)
    assert not GBNF('root ::= "a"{1,2000}').admits("a" * 2001)
