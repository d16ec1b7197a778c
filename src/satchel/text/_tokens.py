"""What a text costs a model, as an estimate that says so."""


class EstimateCounter:
    """A quarter of a token for each byte of UTF-8, rounded up.

    That is the usual rule of four characters a token for English; Cyrillic counts
    double, a CJK character three quarters of a token and an emoji a whole one, near to
    what tokenizers make of them. More text never costs less.
    """

    __slots__ = ()

    @property
    def name(self) -> str:
        """The name of the count."""
        return "estimate (UTF-8 bytes / 4)"

    def count(self, text: str) -> int:
        """Return the estimated number of tokens; 0 for no text."""
        if text.isascii():
            return (len(text) + 3) // 4
        return (len(text.encode("utf-8", "surrogatepass")) + 3) // 4
