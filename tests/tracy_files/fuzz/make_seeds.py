#!/usr/bin/env python3
"""make_seeds.py OUT: the seeds of fuzz_tracy_file, each with the byte in front that says what it is."""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import contents  # noqa: E402

out = pathlib.Path(sys.argv[1])
for layout in contents.LAYOUTS:
    content = contents.full(layout)
    (out / f"content_{layout[0]}_{layout[1]}").write_bytes(b"\x02" + content)
    if layout in ((9, 0), (14, 0)):
        (out / f"file_{layout[0]}_{layout[1]}").write_bytes(b"\x03" + contents.file_of(content))
content = contents.full((14, 0))
(out / "file_opened").write_bytes(b"\x05" + contents.file_of(content))
(out / "file_old").write_bytes(b"\x01" + contents.file_of(contents.full((9, 0)), b"tlZ\x04"))
data = HERE.parent / "data"
for path in (data / "v0.11.1" / "rich_fib.tracy", data / "v0.14.0" / "rich_cs.tracy", data / "by_capture_63.tracy"):
    (out / f"file_{path.parent.name}_{path.stem}").write_bytes(b"\x03" + path.read_bytes())
(out / "file_opened_streams").write_bytes(b"\x05" + (data / "v0.14.0" / "rich_cs.tracy").read_bytes())
