# SPDX-License-Identifier: MIT
"""Writes a wheel: a zip with a list of its files and their hashes. Knows nothing of what is in it."""
import base64
import hashlib
import os
import pathlib
import stat
import time
import zipfile


class WheelFile:
    """One wheel under construction; its RECORD is written by close."""

    def __init__(self, folder, name, version, tag, build=""):
        stem = "-".join(filter(None, [name.replace("-", "_"), version, build, tag]))
        self.path = pathlib.Path(folder) / f"{stem}.whl"
        self.info = f"{name.replace('-', '_')}-{version}.dist-info"
        self.data = f"{name.replace('-', '_')}-{version}.data"
        self.tag = tag
        self.rows = []
        epoch = int(os.environ.get("SOURCE_DATE_EPOCH", "315532800"))  # zip begins in 1980
        self.date = max(time.gmtime(epoch)[:6], (1980, 1, 1, 0, 0, 0))
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.partial = self.path.with_suffix(".partial")  # a wheel is whole or not there
        self.zip = zipfile.ZipFile(self.partial, "w", zipfile.ZIP_DEFLATED)

    def add(self, name, content, executable=False):
        """Put one file in; `content` is text or bytes."""
        if isinstance(content, str):
            content = content.encode()
        entry = zipfile.ZipInfo(name, self.date)
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = (stat.S_IFREG | (0o755 if executable else 0o644)) << 16
        self.zip.writestr(entry, content)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        self.rows.append(f"{name},sha256={digest},{len(content)}")

    def add_tree(self, folder, prefix, skip=lambda path: False):
        """Put a folder in, in sorted order; symbolic links are followed (wheels have none)."""
        for path in sorted(pathlib.Path(folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts and not skip(path):
                self.add(f"{prefix}{path.relative_to(folder).as_posix()}", path.read_bytes(),
                         os.access(path, os.X_OK))

    def close(self):
        """Finish it; its file name."""
        pure = "true" if self.tag.endswith("-any") else "false"
        self.add(f"{self.info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: strobe_backend\n"
                                       f"Root-Is-Purelib: {pure}\nTag: {self.tag}\n")
        record = f"{self.info}/RECORD"
        self.zip.writestr(zipfile.ZipInfo(record, self.date), "\n".join(self.rows + [f"{record},,", ""]))
        self.zip.close()
        self.partial.replace(self.path)
        return self.path.name
