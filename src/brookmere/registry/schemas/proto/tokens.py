"""The tokenizer of .proto files: words, numbers, strings and symbols."""

from __future__ import annotations

import re
from typing import NamedTuple

_TOKEN = re.compile(
    r"""
    (?P<space>\s+|//[^\n]*|/\*.*?\*/)
  | (?P<float>(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?[fF]?|\d+[eE][+-]?\d+[fF]?|\d+[fF](?![\w]))
  | (?P<int>0[xX][0-9a-fA-F]+|\d+)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
  | (?P<sign>[{}\[\]()<>=;,.:+\-/])
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(
    rb"\\(?:([0-7]{1,3})|[xX]([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL
)
_SIMPLE = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}


class ProtoTextError(ValueError):
    """A text is not a valid .proto file; the message says where and why."""


class Token(NamedTuple):
    """A token and its position in the text."""

    kind: str
    text: str
    start: int


class Tokens:
    """The tokens of a .proto file, consumed one by one."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = _split(text)
        self._next = 0

    @property
    def next(self) -> Token:
        """The next token, without consuming it."""
        return self._tokens[self._next]

    def after_next(self) -> Token:
        """The token after the next one."""
        return self._tokens[min(self._next + 1, len(self._tokens) - 1)]

    def take(self) -> Token:
        """Consume the next token."""
        token = self._tokens[self._next]
        if token.kind != "end":
            self._next += 1
        return token

    def accept(self, text: str) -> bool:
        """Consume the next token if it is this one, and return whether it was."""
        if self.next.text == text and self.next.kind in ("word", "sign"):
            self._next += 1
            return True
        return False

    def expect(self, text: str) -> Token:
        """Consume the next token, which must be this one."""
        token = self.take()
        if token.text != text or token.kind not in ("word", "sign"):
            raise self.fault(token, f"expected {text!r}")
        return token

    def word(self) -> str:
        """Consume a word."""
        token = self.take()
        if token.kind != "word":
            raise self.fault(token, "expected a name")
        return token.text

    def full_word(self) -> str:
        """Consume words separated by dots, optionally with a leading dot."""
        name = "." if self.accept(".") else ""
        name += self.word()
        while self.accept("."):
            name += "." + self.word()
        return name

    def integer(self) -> int:
        """Consume an integer with its sign."""
        negative = self.accept("-")
        token = self.take()
        if token.kind != "int":
            raise self.fault(token, "expected an integer")
        number = integer_of(token.text)
        return -number if negative else number

    def string(self) -> bytes:
        """Consume a string; adjacent strings are joined."""
        token = self.take()
        if token.kind != "string":
            raise self.fault(token, "expected a string")
        content = unescaped(token.text)
        while self.next.kind == "string":
            content += unescaped(self.take().text)
        return content

    def text_string(self) -> str:
        """Consume a string of characters."""
        return self.string().decode("utf-8", errors="surrogateescape")

    def braced(self) -> str:
        """Consume everything between braces, verbatim."""
        start = self.expect("{").start + 1
        depth = 1
        while True:
            token = self.take()
            if token.kind == "end":
                raise self.fault(token, "expected '}'")
            if token.kind == "sign":
                depth += {"{": 1, "}": -1}.get(token.text, 0)
            if depth == 0:
                return self._text[start : token.start]

    def fault(self, token: Token, expected: str) -> ProtoTextError:
        """Return the error for an unexpected token."""
        line = self._text.count("\n", 0, token.start) + 1
        column = token.start - (self._text.rfind("\n", 0, token.start) + 1) + 1
        found = "the end of the text" if token.kind == "end" else repr(token.text)
        return ProtoTextError(f"line {line}, column {column}: {expected}, found {found}")


def integer_of(text: str) -> int:
    """Return the value of decimal, hexadecimal or octal digits."""
    if text[:2] in ("0x", "0X"):
        return int(text, 16)
    return int(text, 8) if text.startswith("0") and len(text) > 1 else int(text)


def unescaped(literal: str) -> bytes:
    """Return the bytes of a quoted string."""
    return _ESCAPE.sub(_plain, literal[1:-1].encode("utf-8", errors="surrogateescape"))


def _plain(match: re.Match[bytes]) -> bytes:
    octal, hexadecimal, short, long, character = match.groups()
    if octal is not None:
        return bytes([int(octal, 8) & 0xFF])
    if hexadecimal is not None:
        return bytes([int(hexadecimal, 16)])
    if short is not None or long is not None:
        return chr(int(short or long, 16)).encode("utf-8", errors="surrogatepass")
    return _SIMPLE.get(character, character)


def _split(text: str) -> list[Token]:
    tokens: list[Token] = []
    place = 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            line = text.count("\n", 0, place) + 1
            raise ProtoTextError(f"line {line}: {text[place : place + 10]!r} is not allowed in a .proto file")
        if match.lastgroup != "space":
            tokens.append(Token(str(match.lastgroup), match.group(), place))
        place = match.end()
    return [*tokens, Token("end", "", len(text))]
