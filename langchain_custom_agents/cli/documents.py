"""Reading and splitting documents from files and folders."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from langchain_core.documents import Document

from langchain_custom_agents.cli.errors import Failure
from langchain_custom_agents.cli.names import CONVERTED

CHUNK = 1000
OVERLAP = 100
# Sentences end without a space in Japanese and Chinese.
_ENDS = ("\n\n", "\n", "。", "！", "？", ". ", "! ", "? ", "、", "，", " ", "")

_NEEDS_DOCS = "{file} needs a converter: pip install 'langchain-custom-agents[docs]'."


def files_in(paths: Iterable[Path], kinds: Sequence[str]) -> list[Path]:
    """Name the documents under paths, each once, in the order of the paths.

    In a folder those are the files of some kinds, hidden ones left out; a file that is named
    itself may be of any kind, as long as it is text or can be converted.

    Args:
        paths: Files and folders.
        kinds: The kinds of files to take from folders.

    Raises:
        Failure: If a path does not exist or a folder holds no document.
    """
    found: dict[Path, None] = {}
    for given in paths:
        path = given.expanduser()
        if path.is_dir():
            inside = [file for file in sorted(path.rglob("*")) if _is_document(file, path, kinds)]
            if not inside:
                msg = f"{path} holds no document ({', '.join(kinds)}): give a folder that does."
                raise Failure(msg)
            found.update(dict.fromkeys(inside))
        elif path.exists():
            found[path] = None
        else:
            msg = f"{path} does not exist: give a file or a folder that does."
            raise Failure(msg)
    return list(found)


def _is_document(file: Path, root: Path, kinds: Sequence[str]) -> bool:
    hidden = any(part.startswith(".") for part in file.relative_to(root).parts)
    return not hidden and file.suffix.lower() in kinds and file.is_file()


def read(file: Path) -> Document | None:
    """Read one document; None if nothing is in it.

    Args:
        file: The file.

    Returns:
        Its text, with its title and the file's path, as it was given, as its source.

    Raises:
        Failure: If it cannot be read, or not as text.
    """
    kind = file.suffix.lower()
    title, text = _converted(file) if kind in CONVERTED else _text(file)
    if not text.strip():
        return None
    return Document(text, metadata={"title": title, "source": str(file)})


def read_all(files: Iterable[Path], done: Callable[[], None] = lambda: None) -> Iterator[Document]:
    """Read documents, leaving out those in which there is nothing.

    Args:
        files: The files.
        done: Called after each.

    Raises:
        Failure: If one cannot be read, or there is nothing in any.
    """
    empty = True
    for file in files:
        document = read(file)
        done()
        if document is not None:
            empty = False
            yield document
    if empty:
        names = ", ".join(map(str, files))
        msg = f"There is no text in {names[:200]}: give documents that hold some."
        raise Failure(msg)


def titled_apart(documents: Iterable[Document]) -> list[Document]:
    """Return documents whose titles differ: the path is added to one that was used before.

    Example:
        >>> pages = [Document("1", metadata={"title": "A", "source": x}) for x in ("/x", "/y")]
        >>> [page.metadata["title"] for page in titled_apart(pages)]
        ['A', 'A (/y)']
    """
    seen: set[str] = set()
    pages = list(documents)
    for page in pages:
        if page.metadata["title"] in seen:
            page.metadata["title"] += f" ({page.metadata['source']})"
        seen.add(page.metadata["title"])
    return pages


def _text(file: Path) -> tuple[str, str]:
    from langchain_custom_agents.docstores.folder import titled

    try:
        text = file.read_text(encoding="utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        msg = f"{file} is not UTF-8 text (byte {error.start}): save it as UTF-8, or leave it out."
        raise Failure(msg) from error
    except OSError as error:
        msg = f"{file} cannot be read ({error.strerror}): check its permissions, or leave it out."
        raise Failure(msg) from error
    return titled(file, text)


def _converted(file: Path) -> tuple[str, str]:
    try:
        from markitdown import MarkItDown, MissingDependencyException
        from markitdown.converters import DocxConverter, HtmlConverter, PdfConverter
    except ImportError as error:
        raise Failure(_NEEDS_DOCS.format(file=file)) from error
    # Only these: the built-in ones end with taking whatever is in a broken file for text.
    converter = MarkItDown(enable_builtins=False, enable_plugins=False)
    kinds: tuple[Any, ...] = (PdfConverter, DocxConverter, HtmlConverter)
    for kind in kinds:
        converter.register_converter(kind())
    try:
        result = converter.convert_local(str(file))
    except OSError as error:
        msg = f"{file} cannot be read ({error.strerror}): check its permissions, or leave it out."
        raise Failure(msg) from error
    except MissingDependencyException as error:
        raise Failure(_NEEDS_DOCS.format(file=file)) from error
    except Exception as error:
        msg = f"{file} could not be converted ({type(error).__name__}): is the file whole?"
        raise Failure(msg) from error
    return result.title or file.stem, result.markdown


def split(document: Document, size: int = CHUNK, overlap: int = OVERLAP) -> list[Document]:
    """Cut a document into passages, at the ends of paragraphs and sentences where it can.

    Args:
        document: The document.
        size: The most characters of a passage.
        overlap: How many characters two passages may share.

    Returns:
        The passages; each says where in the document it starts.

    Example:
        >>> page = Document("One sentence. Another one.", metadata={"title": "Two"})
        >>> [piece.page_content for piece in split(page, size=15, overlap=0)]
        ['One sentence.', 'Another one.']
    """
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    splitter = RecursiveCharacterTextSplitter(
        separators=list(_ENDS),
        chunk_size=size,
        chunk_overlap=overlap,
        keep_separator="end",
        add_start_index=True,
    )
    return splitter.split_documents([document])
