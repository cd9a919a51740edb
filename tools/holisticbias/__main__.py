"""``python -m holisticbias``, and the installed command."""

import os
import signal
import sys


def run() -> None:
    """Run the command and exit with its code."""
    # the command has no plugins of pydantic: looking for them reads the metadata of every installed package
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    for name in ("SIGTERM", "SIGHUP"):  # treat them like Ctrl-C, unless they are ignored, as nohup does
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler)
    try:
        from holisticbias.cli import INTERRUPTED, main

        code = main()
        if code == INTERRUPTED:
            os._exit(code)  # sys.exit would wait for threads, which may wait for a server
        sys.exit(code)
    except KeyboardInterrupt:  # while the command starts or ends; main() handles the rest
        sys.stderr.write("holisticbias: interrupted\n")
        sys.exit(130)


if __name__ == "__main__":
    run()
