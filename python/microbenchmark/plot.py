# SPDX-License-Identifier: MIT
"""A plot of results over their sizes, as SVG or PNG, made without any library: points, their 95 % intervals, a line through them."""
import struct
import zlib

WIDTH, HEIGHT = 720, 440
LEFT, RIGHT, TOP, BOTTOM = 80, 20, 40, 60
INK, GRID, LINE = (0x20, 0x20, 0x20), (0xdd, 0xdd, 0xdd), (0x1f, 0x6f, 0xb4)

# 5 columns of 7 bits per letter, the lowest bit on top
FONT = {"0": "3e5149453e", "1": "00427f4000", "2": "4261514946", "3": "2141454b31", "4": "1814127f10", "5": "2745454539",
        "6": "3c4a494930", "7": "0171090503", "8": "3649494936", "9": "064949291e", "A": "7e1111117e", "B": "7f49494936",
        "C": "3e41414122", "D": "7f4141221c", "E": "7f49494941", "F": "7f09090901", "G": "3e4149497a", "H": "7f0808087f",
        "I": "00417f4100", "J": "2040413f01", "K": "7f08142241", "L": "7f40404040", "M": "7f020c027f", "N": "7f0408107f",
        "O": "3e4141413e", "P": "7f09090906", "Q": "3e4151215e", "R": "7f09192946", "S": "4649494931", "T": "01017f0101",
        "U": "3f4040403f", "V": "1f2040201f", "W": "3f4038403f", "X": "6314081463", "Y": "0708700807", "Z": "6151494543",
        ".": "0060600000", "-": "0808080808", "/": "2010080402", "%": "2313086462", "(": "001c224100", ")": "0041221c00",
        ":": "0036360000", ",": "0050300000", "_": "4040404040", " ": "0000000000"}


class Svg:
    """A drawing as SVG text."""

    def __init__(self):
        self.parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" font-size="13">',
                      f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>']

    def line(self, x0, y0, x1, y1, color):
        self.parts.append(f'<line x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}" stroke="#{bytes(color).hex()}"/>')

    def dot(self, x, y, color):
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="#{bytes(color).hex()}"/>')

    def text(self, x, y, text, anchor="middle"):
        for plain, safe in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
            text = text.replace(plain, safe)
        self.parts.append(f'<text x="{x:.1f}" y="{y + 4:.1f}" text-anchor="{anchor}">{text}</text>')

    def bytes(self):
        return ("\n".join([*self.parts, "</svg>"]) + "\n").encode()


class Png:
    """A drawing as PNG, of 8 bits per colour."""

    def __init__(self):
        self.pixels = bytearray(b"\xff" * (WIDTH * HEIGHT * 3))

    def put(self, x, y, color):
        if 0 <= x < WIDTH and 0 <= y < HEIGHT:
            self.pixels[(y * WIDTH + x) * 3:(y * WIDTH + x) * 3 + 3] = bytes(color)

    def line(self, x0, y0, x1, y1, color):
        n = int(max(abs(x1 - x0), abs(y1 - y0), 1))
        for i in range(n + 1):
            self.put(round(x0 + (x1 - x0) * i / n), round(y0 + (y1 - y0) * i / n), color)

    def dot(self, x, y, color):
        for dx in range(-3, 4):
            for dy in range(-3, 4):
                if dx * dx + dy * dy <= 11:
                    self.put(round(x) + dx, round(y) + dy, color)

    def text(self, x, y, text, anchor="middle"):
        width = 6 * len(text)
        left = round(x - {"middle": width / 2, "end": width, "start": 0}[anchor])
        for at, letter in enumerate(text.upper()):
            for column, bits in enumerate(bytes.fromhex(FONT.get(letter, FONT["-"]))):
                for row in range(7):
                    if bits >> row & 1:
                        self.put(left + 6 * at + column, round(y) - 3 + row, INK)

    def bytes(self):
        rows = b"".join(b"\0" + self.pixels[y * WIDTH * 3:(y + 1) * WIDTH * 3] for y in range(HEIGHT))

        def chunk(kind, data):
            return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

        head = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)
        return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")


def step_of(top):
    """A round distance between grid lines, four to ten of them up to `top`."""
    step = 1.0
    while step * 10 < top:
        step *= 10
    while step * 4 > top and step > 1e-12:
        step /= 10
    for more in (5, 2):
        if step * more * 4 <= top:
            return step * more
    return step


def rates(result):
    """(low, middle, high) of a result's rate; its dispatch time in us where no work is known."""
    low, high = result.interval_ns
    if result.work:
        return result.work / high, result.rate, result.work / low
    return low / 1e3, result.median_ns / 1e3, high / 1e3


def draw(drawing, results, title, x_label, y_label):
    points = sorted(((result.size if result.size is not None else i, *rates(result)) for i, result in enumerate(results) if result.median_ns),
                    key=lambda point: point[0])
    right = max((point[0] for point in points), default=1) or 1
    top = (max((point[3] for point in points), default=1) or 1) * 1.05

    def x_of(value):
        return LEFT + (WIDTH - LEFT - RIGHT) * value / (right * 1.05)

    def y_of(value):
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / top

    step = step_of(top)
    for i in range(int(top / step) + 1):
        drawing.line(LEFT, y_of(i * step), WIDTH - RIGHT, y_of(i * step), GRID)
        drawing.text(LEFT - 8, y_of(i * step), f"{i * step:g}", "end")
    for x, low, _, high in points:
        drawing.text(x_of(x), HEIGHT - BOTTOM + 16, f"{x:g}")
        drawing.line(x_of(x), y_of(low), x_of(x), y_of(high), LINE)
    for before, after in zip(points, points[1:]):
        drawing.line(x_of(before[0]), y_of(before[2]), x_of(after[0]), y_of(after[2]), LINE)
    for x, _, middle, _ in points:
        drawing.dot(x_of(x), y_of(middle), LINE)
    drawing.line(LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT, HEIGHT - BOTTOM, INK)
    drawing.line(LEFT, TOP, LEFT, HEIGHT - BOTTOM, INK)
    drawing.text(WIDTH / 2, 18, title)
    drawing.text(WIDTH / 2, HEIGHT - 18, x_label)
    drawing.text(12, TOP - 14, y_label, "start")


def write(results, path, title="", x_label="size", y_label=""):
    """Draw results to a file that ends in .svg or .png. Rates where the work is known, else dispatch times in us."""
    drawing = Png() if str(path).endswith(".png") else Svg()
    known = all(result.work for result in results)
    draw(drawing, results, title, x_label, y_label or ("operations per ns" if known else "us in dispatches"))
    with open(path, "wb") as out:
        out.write(drawing.bytes())
