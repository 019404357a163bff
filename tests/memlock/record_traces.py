"""record_traces.py STROBE MARKED FOLDER: traces of the programs with planted causes, for the tests of the page."""
import os
import subprocess
import sys

strobe, marked, folder = sys.argv[1:]
os.makedirs(folder, exist_ok=True)
subprocess.run([strobe, "record", "-o", os.path.join(folder, "marked.strobe"), "--", marked], check=True, stdout=subprocess.DEVNULL)
