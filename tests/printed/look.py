#!/usr/bin/env python3
"""look.py VIEWER [words]: starts a viewer as a user would, looks at its page once, and ends it as Ctrl-C does. Exit code 0: the page
was there. Without it a printed `tracy` would wait for somebody to close it."""
import os
import re
import signal
import subprocess
import sys
import urllib.request


def main(words):
    viewer = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, "BROWSER": "true"})
    try:
        for line in viewer.stdout:
            found = re.search(r"http://127\.0\.0\.1:\d+/\S*", line)
            if found:
                with urllib.request.urlopen(found.group(), timeout=60) as page:
                    print(f"{os.path.basename(words[0])}: {page.status}, {len(page.read())} bytes")
                return 0
        return 1
    finally:
        viewer.send_signal(signal.SIGINT)
        viewer.wait(60)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
