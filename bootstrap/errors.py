"""What set-up raises: one sentence that says what is wrong and what to do."""


class SetupError(Exception):
    """Set-up cannot go on. The message is shown alone, without a stack trace."""
