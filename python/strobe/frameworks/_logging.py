"""logging: every record that a logger hands to its handlers, as a message with its severity, before they get it."""
import functools
import os

from strobe import _strobe

_MAX_TEXT = 4096
_SEVERITIES = ((50, 5), (40, 4), (30, 3), (20, 2), (10, 1))


def severity_of(level):
    """fatal, error, warning, info, debug; trace for what is below."""
    return next((severity for least, severity in _SEVERITIES if level >= least), 0)


def wrap(logging):
    """Wrap Logger.callHandlers: what levels and filters keep away is no message either."""
    least = os.environ.get("STROBE_LOGGING", "0")
    least = int(least) if least.isdigit() else logging.getLevelName(least.upper())
    if not isinstance(least, int):
        raise ValueError("STROBE_LOGGING is a level like WARNING, or its number")
    call_handlers = logging.Logger.callHandlers
    recording, message = _strobe.recording, _strobe.message

    @functools.wraps(call_handlers)
    def callHandlers(self, record):
        if record.levelno >= least and recording():
            try:
                _strobe.unseen(_say, record, message)
            except Exception:  # arguments that don't fit the text: a handler says so
                pass
        return call_handlers(self, record)

    logging.Logger.callHandlers = callHandlers


def _say(record, message):
    text = record.getMessage()
    error = record.exc_info[1] if record.exc_info else None
    if error is not None:
        text = f"{text} ({type(error).__name__}: {error})"
    message(f"{record.name}: {text}"[:_MAX_TEXT], 0, severity_of(record.levelno))
