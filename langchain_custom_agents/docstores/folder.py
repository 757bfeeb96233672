"""A docstore over a folder of text files."""

import os
import re
import unicodedata
from collections import Counter
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from langchain_core.documents import Document

from langchain_custom_agents._headings import markdown_heading
from langchain_custom_agents.docstores.text import TextDocstore, fold

__all__ = ("FolderDocstore",)

_SUFFIXES = (".txt", ".md", ".rst")

_UNDERLINED_HEADING = re.compile(
    r"\A(?:([^\w\s])\1{2,}[ \t]*\n)?[ \t]*(\S.*)\n([=\-~^\"'`*+#])\3{2,}[ \t]*(?:\n|\Z)"
)
_FRONT_MATTER = re.compile(r"\A---\n.*?\n(?:---|\.\.\.)\n", re.DOTALL)
_LINKS = re.compile(
    r"""
    (?<!!)\[[^\]]*\]\(\s*<?(?P<md>[^)<>\s]+)[^)]*\)   # [text](target.md)
  | \[\[(?P<wiki>[^\]|\#]+)[^\]]*\]\]                 # [[Title]] and [[Title|text]]
  | :doc:`(?:[^`<]*<)?(?P<doc>[^`<>]+)>?`             # :doc:`target` and :doc:`text <target>`
  | `[^`<]+<(?P<rst>[^`<>]+)>`__?                     # `text <target.rst>`_
    """,
    re.VERBOSE,
)


class FolderDocstore(TextDocstore):
    r"""The text files of folders, each a page (`.txt`, `.md`, `.rst`, UTF-8, found recursively).

    A page's title is its first heading when the file starts with one (a Markdown or an underlined
    heading), else its file name; it is found by either. When two files have the same title, the
    file's path is added to each, and the title alone offers both. Links between the files become
    the page's `related` titles. Hidden files and folders are left out.

    Args:
        paths: Folders or files.

    Raises:
        FileNotFoundError: If a path does not exist.
        TypeError: If something else than a path is given, such as a list of them.
        ValueError: If no path is given, a path holds no text, or a file is not UTF-8.
        OSError: If a file cannot be read.

    Example:
        >>> import pathlib, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> _ = (folder / "hiroko.md").write_text("# Hiroko\nHer father is [Takuma](takuma.txt).")
        >>> _ = (folder / "takuma.txt").write_text("Takuma is a teacher.")
        >>> page = FolderDocstore(folder).search("Hiroko")
        >>> page.page_content, page.metadata["related"]
        ('Her father is [Takuma](takuma.txt).', ['takuma'])
    """

    def __init__(self, *paths: str | os.PathLike[str]) -> None:
        if not paths:
            msg = "FolderDocstore needs at least one path to a folder or a file."
            raise ValueError(msg)
        for path in paths:
            if not isinstance(path, str | os.PathLike):
                msg = (
                    f"A path of FolderDocstore is {type(path).__name__}; give each as an argument."
                )
                raise TypeError(msg)
        found = [file for given in paths for file in _files(Path(given))]
        # A file that is reached in two ways is one page; a link to it is a page of its own.
        files = dict({os.path.normpath(file[0].absolute()): file for file in found}.values())
        texts = {path: _read(path) for path in files}
        named = {path: titled(path, text) for path, text in texts.items() if text.strip()}
        if not named:
            msg = f"No text was found in {_listed(paths)}: every {_kinds()} file is empty."
            raise ValueError(msg)
        titles = _unique_titles({path: title for path, (title, _) in named.items()}, files)
        super().__init__(
            Document(
                body,
                metadata={
                    "title": titles[path],
                    "source": str(path),
                    "related": _related(path, body, titles),
                },
            )
            for path, (_, body) in named.items()
        )
        by_title = set(self._folded)
        for path, title in titles.items():
            for name in {fold(path.stem), fold(path.name), fold(named[path][0])} - by_title:
                self._folded[name].append(title)


def _listed(paths: tuple[str | os.PathLike[str], ...]) -> str:
    return ", ".join(str(path) for path in paths)


def _kinds() -> str:
    return ", ".join(_SUFFIXES[:-1]) + " or " + _SUFFIXES[-1]


def _files(given: Path) -> list[tuple[Path, Path]]:
    """Name the readable files under a path, each with the folder its title may be told by."""
    given = given.expanduser()
    if not given.exists():
        msg = f"{given} does not exist; give a folder or a file that does."
        raise FileNotFoundError(msg)
    if given.is_file():
        if given.suffix.lower() not in _SUFFIXES:
            msg = f"{given} is not a {_kinds()} file; other kinds cannot be read as text."
            raise ValueError(msg)
        return [(given, given.parent)]
    found = sorted(
        path
        for path in given.rglob("*")
        if path.suffix.lower() in _SUFFIXES
        and path.is_file()
        and not any(part.startswith(".") for part in path.relative_to(given).parts)
    )
    if not found:
        msg = f"{given} holds no {_kinds()} file; give a folder that does."
        raise ValueError(msg)
    return [(path, given) for path in found]


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        msg = f"{path} is not UTF-8 text (byte {error.start}); save it as UTF-8 or leave it out."
        raise ValueError(msg) from error
    except OSError as error:
        msg = f"{path} cannot be read: {error.strerror}."
        raise type(error)(error.errno, msg) from error


def titled(path: Path, text: str) -> tuple[str, str]:
    """Split a text into its title and the rest; a file that is only a heading keeps it as text."""
    body = text
    if path.suffix.lower() == ".md":
        body = _FRONT_MATTER.sub("", body, count=1)
    body = body.strip()
    if path.suffix.lower() != ".txt":
        line, _, rest = body.partition("\n")
        if heading := markdown_heading(line):
            return heading[1], rest.strip() or heading[1]
        if match := _UNDERLINED_HEADING.match(body):
            name = match[2].rstrip()
            return name, body[match.end() :].strip() or name
    return path.stem, body or text.strip()


def _unique_titles(titles: dict[Path, str], roots: dict[Path, Path]) -> dict[Path, str]:
    """Add to a title that several files have what tells them apart: a path, or else a number."""
    unique = {path: _normal(title) for path, title in titles.items()}
    inside = {path: path.relative_to(root).as_posix() for path, root in roots.items()}
    for added in (
        inside,
        {path: f"{root.absolute().name}/{inside[path]}" for path, root in roots.items()},
        {path: path.as_posix() for path in roots},
        {path: str(number) for number, path in enumerate(titles, 1)},
    ):
        seen = Counter(unique.values())
        unique = {
            path: title if seen[title] == 1 else _normal(f"{titles[path]} ({added[path]})")
            for path, title in unique.items()
        }
    return unique


def _normal(title: str) -> str:
    """Write a title as a model would: file names may come in another Unicode form."""
    return " ".join(unicodedata.normalize("NFC", title).split())


def _related(path: Path, body: str, titles: dict[Path, str]) -> list[str]:
    """Name the pages that this one links to, in the order of its links."""
    resolved = {known.resolve(): title for known, title in titles.items()}
    by_title = {title.casefold(): title for title in titles.values()}
    by_stem = {known.stem.casefold(): title for known, title in titles.items()}
    found: dict[str, None] = {}
    for match in _LINKS.finditer(body):
        if wiki := match["wiki"]:
            name = wiki.strip().casefold()
            title = by_title.get(name) or by_stem.get(name)
        else:
            link = unquote(match["md"] or match["doc"] or match["rst"]).split("#")[0].strip()
            if not link or "://" in link:
                continue
            target = path.parent / PurePosixPath(link)
            names = (target, *(target.with_name(target.name + suffix) for suffix in _SUFFIXES))
            title = next((resolved[n.resolve()] for n in names if n.resolve() in resolved), None)
        if title and title != titles[path]:
            found[title] = None
    return list(found)
