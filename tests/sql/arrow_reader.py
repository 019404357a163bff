"""arrow_reader.py: the columns of a file of Arrow, read by the rules of its documents (Columnar.html, Schema.fbs, Message.fbs, File.fbs) and no more than our files need.
SPDX-License-Identifier: MIT"""
import struct


class Table:
    """A table of a flatbuffer."""

    def __init__(self, data, at):
        self.data, self.at = data, at
        self.vtable = at - struct.unpack_from("<i", data, at)[0]
        assert at % 4 == 0 and self.vtable % 2 == 0
        self.n_fields = struct.unpack_from("<H", data, self.vtable)[0] // 2 - 2

    def place(self, field):
        offset = struct.unpack_from("<H", self.data, self.vtable + 4 + 2 * field)[0] if field < self.n_fields else 0
        return self.at + offset if offset else None

    def number(self, field, form, default=0):
        place = self.place(field)
        assert place is None or place % struct.calcsize(form) == 0, "not aligned"
        return default if place is None else struct.unpack_from("<" + form, self.data, place)[0]

    def target(self, field):
        place = self.place(field)
        return place + struct.unpack_from("<I", self.data, place)[0]

    def table(self, field):
        return Table(self.data, self.target(field))

    def text(self, field):
        at = self.target(field)
        n = struct.unpack_from("<I", self.data, at)[0]
        assert self.data[at + 4 + n] == 0
        return self.data[at + 4:at + 4 + n].decode()

    def tables(self, field):
        at = self.target(field)
        return [Table(self.data, at + 4 + 4 * i + struct.unpack_from("<I", self.data, at + 4 + 4 * i)[0]) for i in range(struct.unpack_from("<I", self.data, at)[0])]

    def structs(self, field, form):
        at, size = self.target(field), struct.calcsize("<" + form)
        assert (at + 4) % 8 == 0, "structs are not aligned"
        return [struct.unpack_from("<" + form, self.data, at + 4 + size * i) for i in range(struct.unpack_from("<I", self.data, at)[0])]


def root(data):
    return Table(data, struct.unpack_from("<I", data, 0)[0])


def schema(table):
    """(name, type) of each column: the letters of struct, or "u" for texts."""
    columns = []
    for field in table.tables(1):
        kind, sort = field.number(2, "B"), field.table(3)
        assert field.number(1, "B") == 1 and field.tables(5) == []
        letter = {2: {64: "q", 32: "i"}.get(sort.number(0, "i")), 3: "d", 5: "u"}[kind]
        assert kind != 2 or sort.number(1, "B") == 1
        columns.append((field.text(0), letter))
    return columns


def column(letter, n, n_nulls, buffers):
    """The values of a column, None where they are NULL."""
    valid = next(buffers)
    has = [not n_nulls or bool(valid[i // 8] >> i % 8 & 1) for i in range(n)]
    assert has.count(False) == n_nulls
    if letter != "u":
        values = struct.unpack(f"<{n}{letter}", next(buffers))
    else:
        offsets, data = struct.unpack(f"<{n + 1}i", next(buffers)), next(buffers)
        assert offsets[0] == 0 and offsets[-1] == len(data)
        values = [data[a:b].decode() for a, b in zip(offsets, offsets[1:])]
    return [value if there else None for value, there in zip(values, has)]


def read(data):
    """The names of the columns, and all rows."""
    assert data[:8] == b"ARROW1\0\0" and data[-6:] == b"ARROW1"
    n = struct.unpack_from("<i", data, len(data) - 10)[0]
    footer = root(data[len(data) - 10 - n:len(data) - 10])
    assert footer.number(0, "h") == 4 and footer.structs(2, "qiiq") == []
    columns, rows = schema(footer.table(1)), []
    assert schema(message(data, 8)[0].table(2)) == columns
    for offset, head_bytes, _, body_bytes in footer.structs(3, "qiiq"):
        head, body = message(data, offset)
        assert body - offset == head_bytes and head.number(3, "q") == body_bytes and head.number(1, "B") == 3
        batch = head.table(2)
        places = batch.structs(2, "qq")
        assert all(at % 8 == 0 and at + size <= body_bytes for at, size in places)
        buffers = iter([data[body + at:body + at + size] for at, size in places])
        nodes = batch.structs(1, "qq")
        assert all(length == batch.number(0, "q") for length, _ in nodes)
        rows += zip(*[column(letter, length, n_nulls, buffers) for (_, letter), (length, n_nulls) in zip(columns, nodes)])
    return [name for name, _ in columns], rows


def message(data, at):
    """The head of a message, and where its body is."""
    mark, n = struct.unpack_from("<Ii", data, at)
    assert mark == 0xffffffff and at % 8 == 0 and n % 8 == 0
    return root(data[at + 8:at + 8 + n]), at + 8 + n
