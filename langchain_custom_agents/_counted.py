"""Numbers of things in sentences: one second, two seconds."""

__all__ = ["counted"]


def counted(number: float, one: str, many: str = "") -> str:
    """Write how many there are of something.

    Args:
        number: How many.
        one: What one is called.
        many: What several are called; without it, with an s at the end.

    Example:
        >>> counted(1, "second"), counted(0.5, "second"), counted(2, "reply", "replies")
        ('1 second', '0.5 seconds', '2 replies')
    """
    written = number if isinstance(number, int) else f"{number:g}"
    return f"{written} {one if number == 1 else many or f'{one}s'}"
