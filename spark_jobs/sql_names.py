"""Names as SQL writes them. Apart from all that needs Spark: who only reads a log should not wait for it."""


def quoted(name: str) -> str:
    """The name of a column or a table as SQL, whatever it contains."""
    return "`" + name.replace("`", "``") + "`"
