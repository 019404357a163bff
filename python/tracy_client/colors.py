# SPDX-License-Identifier: MIT
"""The colours of X11 by name, as Tracy's package offers them: ColorType.Red is 0xFF0000."""
import enum

_PLAIN = """
Snow fffafa  GhostWhite f8f8ff  WhiteSmoke f5f5f5  Gainsboro dcdcdc  FloralWhite fffaf0  OldLace fdf5e6  Linen
faf0e6  AntiqueWhite faebd7  PapayaWhip ffefd5  BlanchedAlmond ffebcd  Bisque ffe4c4  PeachPuff ffdab9  NavajoWhite
ffdead  Moccasin ffe4b5  Cornsilk fff8dc  Ivory fffff0  LemonChiffon fffacd  Seashell fff5ee  Honeydew f0fff0
MintCream f5fffa  Azure f0ffff  AliceBlue f0f8ff  Lavender e6e6fa  LavenderBlush fff0f5  MistyRose ffe4e1  White
ffffff  Black 000000  DarkSlateGray 2f4f4f  DarkSlateGrey 2f4f4f  DimGray 696969  DimGrey 696969  SlateGray 708090
SlateGrey 708090  LightSlateGray 778899  LightSlateGrey 778899  Gray bebebe  Grey bebebe  X11Gray bebebe  X11Grey
bebebe  WebGray 808080  WebGrey 808080  LightGrey d3d3d3  LightGray d3d3d3  MidnightBlue 191970  Navy 000080
NavyBlue 000080  CornflowerBlue 6495ed  DarkSlateBlue 483d8b  SlateBlue 6a5acd  MediumSlateBlue 7b68ee
LightSlateBlue 8470ff  MediumBlue 0000cd  RoyalBlue 4169e1  Blue 0000ff  DodgerBlue 1e90ff  DeepSkyBlue 00bfff
SkyBlue 87ceeb  LightSkyBlue 87cefa  SteelBlue 4682b4  LightSteelBlue b0c4de  LightBlue add8e6  PowderBlue b0e0e6
PaleTurquoise afeeee  DarkTurquoise 00ced1  MediumTurquoise 48d1cc  Turquoise 40e0d0  Cyan 00ffff  Aqua 00ffff
LightCyan e0ffff  CadetBlue 5f9ea0  MediumAquamarine 66cdaa  Aquamarine 7fffd4  DarkGreen 006400  DarkOliveGreen
556b2f  DarkSeaGreen 8fbc8f  SeaGreen 2e8b57  MediumSeaGreen 3cb371  LightSeaGreen 20b2aa  PaleGreen 98fb98
SpringGreen 00ff7f  LawnGreen 7cfc00  Green 00ff00  Lime 00ff00  X11Green 00ff00  WebGreen 008000  Chartreuse 7fff00
MediumSpringGreen 00fa9a  GreenYellow adff2f  LimeGreen 32cd32  YellowGreen 9acd32  ForestGreen 228b22  OliveDrab
6b8e23  DarkKhaki bdb76b  Khaki f0e68c  PaleGoldenrod eee8aa  LightGoldenrodYellow fafad2  LightYellow ffffe0
Yellow ffff00  Gold ffd700  LightGoldenrod eedd82  Goldenrod daa520  DarkGoldenrod b8860b  RosyBrown bc8f8f
IndianRed cd5c5c  SaddleBrown 8b4513  Sienna a0522d  Peru cd853f  Burlywood deb887  Beige f5f5dc  Wheat f5deb3
SandyBrown f4a460  Tan d2b48c  Chocolate d2691e  Firebrick b22222  Brown a52a2a  DarkSalmon e9967a  Salmon fa8072
LightSalmon ffa07a  Orange ffa500  DarkOrange ff8c00  Coral ff7f50  LightCoral f08080  Tomato ff6347  OrangeRed
ff4500  Red ff0000  HotPink ff69b4  DeepPink ff1493  Pink ffc0cb  LightPink ffb6c1  PaleVioletRed db7093  Maroon
b03060  X11Maroon b03060  WebMaroon 800000  MediumVioletRed c71585  VioletRed d02090  Magenta ff00ff  Fuchsia ff00ff
Violet ee82ee  Plum dda0dd  Orchid da70d6  MediumOrchid ba55d3  DarkOrchid 9932cc  DarkViolet 9400d3  BlueViolet
8a2be2  Purple a020f0  X11Purple a020f0  WebPurple 800080  MediumPurple 9370db  Thistle d8bfd8  DarkGrey a9a9a9
DarkGray a9a9a9  DarkBlue 00008b  DarkCyan 008b8b  DarkMagenta 8b008b  DarkRed 8b0000  LightGreen 90ee90  Crimson
dc143c  Indigo 4b0082  Olive 808000  RebeccaPurple 663399  Silver c0c0c0  Teal 008080
"""

# four shades each, from light to dark
_SHADES = """
Snow fffafa eee9e9 cdc9c9 8b8989
Seashell fff5ee eee5de cdc5bf 8b8682
AntiqueWhite ffefdb eedfcc cdc0b0 8b8378
Bisque ffe4c4 eed5b7 cdb79e 8b7d6b
PeachPuff ffdab9 eecbad cdaf95 8b7765
NavajoWhite ffdead eecfa1 cdb38b 8b795e
LemonChiffon fffacd eee9bf cdc9a5 8b8970
Cornsilk fff8dc eee8cd cdc8b1 8b8878
Ivory fffff0 eeeee0 cdcdc1 8b8b83
Honeydew f0fff0 e0eee0 c1cdc1 838b83
LavenderBlush fff0f5 eee0e5 cdc1c5 8b8386
MistyRose ffe4e1 eed5d2 cdb7b5 8b7d7b
Azure f0ffff e0eeee c1cdcd 838b8b
SlateBlue 836fff 7a67ee 6959cd 473c8b
RoyalBlue 4876ff 436eee 3a5fcd 27408b
Blue 0000ff 0000ee 0000cd 00008b
DodgerBlue 1e90ff 1c86ee 1874cd 104e8b
SteelBlue 63b8ff 5cacee 4f94cd 36648b
DeepSkyBlue 00bfff 00b2ee 009acd 00688b
SkyBlue 87ceff 7ec0ee 6ca6cd 4a708b
LightSkyBlue b0e2ff a4d3ee 8db6cd 607b8b
SlateGray c6e2ff b9d3ee 9fb6cd 6c7b8b
LightSteelBlue cae1ff bcd2ee a2b5cd 6e7b8b
LightBlue bfefff b2dfee 9ac0cd 68838b
LightCyan e0ffff d1eeee b4cdcd 7a8b8b
PaleTurquoise bbffff aeeeee 96cdcd 668b8b
CadetBlue 98f5ff 8ee5ee 7ac5cd 53868b
Turquoise 00f5ff 00e5ee 00c5cd 00868b
Cyan 00ffff 00eeee 00cdcd 008b8b
DarkSlateGray 97ffff 8deeee 79cdcd 528b8b
Aquamarine 7fffd4 76eec6 66cdaa 458b74
DarkSeaGreen c1ffc1 b4eeb4 9bcd9b 698b69
SeaGreen 54ff9f 4eee94 43cd80 2e8b57
PaleGreen 9aff9a 90ee90 7ccd7c 548b54
SpringGreen 00ff7f 00ee76 00cd66 008b45
Green 00ff00 00ee00 00cd00 008b00
Chartreuse 7fff00 76ee00 66cd00 458b00
OliveDrab c0ff3e b3ee3a 9acd32 698b22
DarkOliveGreen caff70 bcee68 a2cd5a 6e8b3d
Khaki fff68f eee685 cdc673 8b864e
LightGoldenrod ffec8b eedc82 cdbe70 8b814c
LightYellow ffffe0 eeeed1 cdcdb4 8b8b7a
Yellow ffff00 eeee00 cdcd00 8b8b00
Gold ffd700 eec900 cdad00 8b7500
Goldenrod ffc125 eeb422 cd9b1d 8b6914
DarkGoldenrod ffb90f eead0e cd950c 8b6508
RosyBrown ffc1c1 eeb4b4 cd9b9b 8b6969
IndianRed ff6a6a ee6363 cd5555 8b3a3a
Sienna ff8247 ee7942 cd6839 8b4726
Burlywood ffd39b eec591 cdaa7d 8b7355
Wheat ffe7ba eed8ae cdba96 8b7e66
Tan ffa54f ee9a49 cd853f 8b5a2b
Chocolate ff7f24 ee7621 cd661d 8b4513
Firebrick ff3030 ee2c2c cd2626 8b1a1a
Brown ff4040 ee3b3b cd3333 8b2323
Salmon ff8c69 ee8262 cd7054 8b4c39
LightSalmon ffa07a ee9572 cd8162 8b5742
Orange ffa500 ee9a00 cd8500 8b5a00
DarkOrange ff7f00 ee7600 cd6600 8b4500
Coral ff7256 ee6a50 cd5b45 8b3e2f
Tomato ff6347 ee5c42 cd4f39 8b3626
OrangeRed ff4500 ee4000 cd3700 8b2500
Red ff0000 ee0000 cd0000 8b0000
DeepPink ff1493 ee1289 cd1076 8b0a50
HotPink ff6eb4 ee6aa7 cd6090 8b3a62
Pink ffb5c5 eea9b8 cd919e 8b636c
LightPink ffaeb9 eea2ad cd8c95 8b5f65
PaleVioletRed ff82ab ee799f cd6889 8b475d
Maroon ff34b3 ee30a7 cd2990 8b1c62
VioletRed ff3e96 ee3a8c cd3278 8b2252
Magenta ff00ff ee00ee cd00cd 8b008b
Orchid ff83fa ee7ae9 cd69c9 8b4789
Plum ffbbff eeaeee cd96cd 8b668b
MediumOrchid e066ff d15fee b452cd 7a378b
DarkOrchid bf3eff b23aee 9a32cd 68228b
Purple 9b30ff 912cee 7d26cd 551a8b
MediumPurple ab82ff 9f79ee 8968cd 5d478b
Thistle ffe1ff eed2ee cdb5cd 8b7b8b
"""


def _colors():
    words = _PLAIN.split()
    named = {name: int(rgb, 16) for name, rgb in zip(words[::2], words[1::2])}
    for line in _SHADES.split("\n"):
        if line.strip():
            name, *shades = line.split()
            named.update({f"{name}{i}": int(rgb, 16) for i, rgb in enumerate(shades, 1)})
    for percent in range(101):
        level = int(percent * 2.55 + 0.5)
        named[f"Gray{percent}"] = named[f"Grey{percent}"] = level << 16 | level << 8 | level
    return named


ColorType = enum.IntEnum("ColorType", _colors(), module=__name__)
ColorType.__doc__ = "A colour by name; an int, 0xRRGGBB."
