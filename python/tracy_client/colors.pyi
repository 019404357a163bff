import enum

class ColorType(enum.IntEnum):
    """A colour by name; an int, 0xRRGGBB."""

    Snow = 0xFFFAFA; GhostWhite = 0xF8F8FF; WhiteSmoke = 0xF5F5F5; Gainsboro = 0xDCDCDC; FloralWhite = 0xFFFAF0; OldLace = 0xFDF5E6; Linen = 0xFAF0E6
    AntiqueWhite = 0xFAEBD7; PapayaWhip = 0xFFEFD5; BlanchedAlmond = 0xFFEBCD; Bisque = 0xFFE4C4; PeachPuff = 0xFFDAB9; NavajoWhite = 0xFFDEAD
    Moccasin = 0xFFE4B5; Cornsilk = 0xFFF8DC; Ivory = 0xFFFFF0; LemonChiffon = 0xFFFACD; Seashell = 0xFFF5EE; Honeydew = 0xF0FFF0
    MintCream = 0xF5FFFA; Azure = 0xF0FFFF; AliceBlue = 0xF0F8FF; Lavender = 0xE6E6FA; LavenderBlush = 0xFFF0F5; MistyRose = 0xFFE4E1
    White = 0xFFFFFF; Black = 0x000000; DarkSlateGray = 0x2F4F4F; DarkSlateGrey = 0x2F4F4F; DimGray = 0x696969; DimGrey = 0x696969
    SlateGray = 0x708090; SlateGrey = 0x708090; LightSlateGray = 0x778899; LightSlateGrey = 0x778899; Gray = 0xBEBEBE; Grey = 0xBEBEBE
    X11Gray = 0xBEBEBE; X11Grey = 0xBEBEBE; WebGray = 0x808080; WebGrey = 0x808080; LightGrey = 0xD3D3D3; LightGray = 0xD3D3D3
    MidnightBlue = 0x191970; Navy = 0x000080; NavyBlue = 0x000080; CornflowerBlue = 0x6495ED; DarkSlateBlue = 0x483D8B; SlateBlue = 0x6A5ACD
    MediumSlateBlue = 0x7B68EE; LightSlateBlue = 0x8470FF; MediumBlue = 0x0000CD; RoyalBlue = 0x4169E1; Blue = 0x0000FF; DodgerBlue = 0x1E90FF
    DeepSkyBlue = 0x00BFFF; SkyBlue = 0x87CEEB; LightSkyBlue = 0x87CEFA; SteelBlue = 0x4682B4; LightSteelBlue = 0xB0C4DE; LightBlue = 0xADD8E6
    PowderBlue = 0xB0E0E6; PaleTurquoise = 0xAFEEEE; DarkTurquoise = 0x00CED1; MediumTurquoise = 0x48D1CC; Turquoise = 0x40E0D0; Cyan = 0x00FFFF
    Aqua = 0x00FFFF; LightCyan = 0xE0FFFF; CadetBlue = 0x5F9EA0; MediumAquamarine = 0x66CDAA; Aquamarine = 0x7FFFD4; DarkGreen = 0x006400
    DarkOliveGreen = 0x556B2F; DarkSeaGreen = 0x8FBC8F; SeaGreen = 0x2E8B57; MediumSeaGreen = 0x3CB371; LightSeaGreen = 0x20B2AA
    PaleGreen = 0x98FB98; SpringGreen = 0x00FF7F; LawnGreen = 0x7CFC00; Green = 0x00FF00; Lime = 0x00FF00; X11Green = 0x00FF00; WebGreen = 0x008000
    Chartreuse = 0x7FFF00; MediumSpringGreen = 0x00FA9A; GreenYellow = 0xADFF2F; LimeGreen = 0x32CD32; YellowGreen = 0x9ACD32; ForestGreen = 0x228B22
    OliveDrab = 0x6B8E23; DarkKhaki = 0xBDB76B; Khaki = 0xF0E68C; PaleGoldenrod = 0xEEE8AA; LightGoldenrodYellow = 0xFAFAD2; LightYellow = 0xFFFFE0
    Yellow = 0xFFFF00; Gold = 0xFFD700; LightGoldenrod = 0xEEDD82; Goldenrod = 0xDAA520; DarkGoldenrod = 0xB8860B; RosyBrown = 0xBC8F8F
    IndianRed = 0xCD5C5C; SaddleBrown = 0x8B4513; Sienna = 0xA0522D; Peru = 0xCD853F; Burlywood = 0xDEB887; Beige = 0xF5F5DC; Wheat = 0xF5DEB3
    SandyBrown = 0xF4A460; Tan = 0xD2B48C; Chocolate = 0xD2691E; Firebrick = 0xB22222; Brown = 0xA52A2A; DarkSalmon = 0xE9967A; Salmon = 0xFA8072
    LightSalmon = 0xFFA07A; Orange = 0xFFA500; DarkOrange = 0xFF8C00; Coral = 0xFF7F50; LightCoral = 0xF08080; Tomato = 0xFF6347
    OrangeRed = 0xFF4500; Red = 0xFF0000; HotPink = 0xFF69B4; DeepPink = 0xFF1493; Pink = 0xFFC0CB; LightPink = 0xFFB6C1; PaleVioletRed = 0xDB7093
    Maroon = 0xB03060; X11Maroon = 0xB03060; WebMaroon = 0x800000; MediumVioletRed = 0xC71585; VioletRed = 0xD02090; Magenta = 0xFF00FF
    Fuchsia = 0xFF00FF; Violet = 0xEE82EE; Plum = 0xDDA0DD; Orchid = 0xDA70D6; MediumOrchid = 0xBA55D3; DarkOrchid = 0x9932CC; DarkViolet = 0x9400D3
    BlueViolet = 0x8A2BE2; Purple = 0xA020F0; X11Purple = 0xA020F0; WebPurple = 0x800080; MediumPurple = 0x9370DB; Thistle = 0xD8BFD8
    DarkGrey = 0xA9A9A9; DarkGray = 0xA9A9A9; DarkBlue = 0x00008B; DarkCyan = 0x008B8B; DarkMagenta = 0x8B008B; DarkRed = 0x8B0000
    LightGreen = 0x90EE90; Crimson = 0xDC143C; Indigo = 0x4B0082; Olive = 0x808000; RebeccaPurple = 0x663399; Silver = 0xC0C0C0; Teal = 0x008080
    Snow1 = 0xFFFAFA; Snow2 = 0xEEE9E9; Snow3 = 0xCDC9C9; Snow4 = 0x8B8989; Seashell1 = 0xFFF5EE; Seashell2 = 0xEEE5DE; Seashell3 = 0xCDC5BF
    Seashell4 = 0x8B8682; AntiqueWhite1 = 0xFFEFDB; AntiqueWhite2 = 0xEEDFCC; AntiqueWhite3 = 0xCDC0B0; AntiqueWhite4 = 0x8B8378; Bisque1 = 0xFFE4C4
    Bisque2 = 0xEED5B7; Bisque3 = 0xCDB79E; Bisque4 = 0x8B7D6B; PeachPuff1 = 0xFFDAB9; PeachPuff2 = 0xEECBAD; PeachPuff3 = 0xCDAF95
    PeachPuff4 = 0x8B7765; NavajoWhite1 = 0xFFDEAD; NavajoWhite2 = 0xEECFA1; NavajoWhite3 = 0xCDB38B; NavajoWhite4 = 0x8B795E
    LemonChiffon1 = 0xFFFACD; LemonChiffon2 = 0xEEE9BF; LemonChiffon3 = 0xCDC9A5; LemonChiffon4 = 0x8B8970; Cornsilk1 = 0xFFF8DC
    Cornsilk2 = 0xEEE8CD; Cornsilk3 = 0xCDC8B1; Cornsilk4 = 0x8B8878; Ivory1 = 0xFFFFF0; Ivory2 = 0xEEEEE0; Ivory3 = 0xCDCDC1; Ivory4 = 0x8B8B83
    Honeydew1 = 0xF0FFF0; Honeydew2 = 0xE0EEE0; Honeydew3 = 0xC1CDC1; Honeydew4 = 0x838B83; LavenderBlush1 = 0xFFF0F5; LavenderBlush2 = 0xEEE0E5
    LavenderBlush3 = 0xCDC1C5; LavenderBlush4 = 0x8B8386; MistyRose1 = 0xFFE4E1; MistyRose2 = 0xEED5D2; MistyRose3 = 0xCDB7B5; MistyRose4 = 0x8B7D7B
    Azure1 = 0xF0FFFF; Azure2 = 0xE0EEEE; Azure3 = 0xC1CDCD; Azure4 = 0x838B8B; SlateBlue1 = 0x836FFF; SlateBlue2 = 0x7A67EE; SlateBlue3 = 0x6959CD
    SlateBlue4 = 0x473C8B; RoyalBlue1 = 0x4876FF; RoyalBlue2 = 0x436EEE; RoyalBlue3 = 0x3A5FCD; RoyalBlue4 = 0x27408B; Blue1 = 0x0000FF
    Blue2 = 0x0000EE; Blue3 = 0x0000CD; Blue4 = 0x00008B; DodgerBlue1 = 0x1E90FF; DodgerBlue2 = 0x1C86EE; DodgerBlue3 = 0x1874CD
    DodgerBlue4 = 0x104E8B; SteelBlue1 = 0x63B8FF; SteelBlue2 = 0x5CACEE; SteelBlue3 = 0x4F94CD; SteelBlue4 = 0x36648B; DeepSkyBlue1 = 0x00BFFF
    DeepSkyBlue2 = 0x00B2EE; DeepSkyBlue3 = 0x009ACD; DeepSkyBlue4 = 0x00688B; SkyBlue1 = 0x87CEFF; SkyBlue2 = 0x7EC0EE; SkyBlue3 = 0x6CA6CD
    SkyBlue4 = 0x4A708B; LightSkyBlue1 = 0xB0E2FF; LightSkyBlue2 = 0xA4D3EE; LightSkyBlue3 = 0x8DB6CD; LightSkyBlue4 = 0x607B8B
    SlateGray1 = 0xC6E2FF; SlateGray2 = 0xB9D3EE; SlateGray3 = 0x9FB6CD; SlateGray4 = 0x6C7B8B; LightSteelBlue1 = 0xCAE1FF
    LightSteelBlue2 = 0xBCD2EE; LightSteelBlue3 = 0xA2B5CD; LightSteelBlue4 = 0x6E7B8B; LightBlue1 = 0xBFEFFF; LightBlue2 = 0xB2DFEE
    LightBlue3 = 0x9AC0CD; LightBlue4 = 0x68838B; LightCyan1 = 0xE0FFFF; LightCyan2 = 0xD1EEEE; LightCyan3 = 0xB4CDCD; LightCyan4 = 0x7A8B8B
    PaleTurquoise1 = 0xBBFFFF; PaleTurquoise2 = 0xAEEEEE; PaleTurquoise3 = 0x96CDCD; PaleTurquoise4 = 0x668B8B; CadetBlue1 = 0x98F5FF
    CadetBlue2 = 0x8EE5EE; CadetBlue3 = 0x7AC5CD; CadetBlue4 = 0x53868B; Turquoise1 = 0x00F5FF; Turquoise2 = 0x00E5EE; Turquoise3 = 0x00C5CD
    Turquoise4 = 0x00868B; Cyan1 = 0x00FFFF; Cyan2 = 0x00EEEE; Cyan3 = 0x00CDCD; Cyan4 = 0x008B8B; DarkSlateGray1 = 0x97FFFF
    DarkSlateGray2 = 0x8DEEEE; DarkSlateGray3 = 0x79CDCD; DarkSlateGray4 = 0x528B8B; Aquamarine1 = 0x7FFFD4; Aquamarine2 = 0x76EEC6
    Aquamarine3 = 0x66CDAA; Aquamarine4 = 0x458B74; DarkSeaGreen1 = 0xC1FFC1; DarkSeaGreen2 = 0xB4EEB4; DarkSeaGreen3 = 0x9BCD9B
    DarkSeaGreen4 = 0x698B69; SeaGreen1 = 0x54FF9F; SeaGreen2 = 0x4EEE94; SeaGreen3 = 0x43CD80; SeaGreen4 = 0x2E8B57; PaleGreen1 = 0x9AFF9A
    PaleGreen2 = 0x90EE90; PaleGreen3 = 0x7CCD7C; PaleGreen4 = 0x548B54; SpringGreen1 = 0x00FF7F; SpringGreen2 = 0x00EE76; SpringGreen3 = 0x00CD66
    SpringGreen4 = 0x008B45; Green1 = 0x00FF00; Green2 = 0x00EE00; Green3 = 0x00CD00; Green4 = 0x008B00; Chartreuse1 = 0x7FFF00
    Chartreuse2 = 0x76EE00; Chartreuse3 = 0x66CD00; Chartreuse4 = 0x458B00; OliveDrab1 = 0xC0FF3E; OliveDrab2 = 0xB3EE3A; OliveDrab3 = 0x9ACD32
    OliveDrab4 = 0x698B22; DarkOliveGreen1 = 0xCAFF70; DarkOliveGreen2 = 0xBCEE68; DarkOliveGreen3 = 0xA2CD5A; DarkOliveGreen4 = 0x6E8B3D
    Khaki1 = 0xFFF68F; Khaki2 = 0xEEE685; Khaki3 = 0xCDC673; Khaki4 = 0x8B864E; LightGoldenrod1 = 0xFFEC8B; LightGoldenrod2 = 0xEEDC82
    LightGoldenrod3 = 0xCDBE70; LightGoldenrod4 = 0x8B814C; LightYellow1 = 0xFFFFE0; LightYellow2 = 0xEEEED1; LightYellow3 = 0xCDCDB4
    LightYellow4 = 0x8B8B7A; Yellow1 = 0xFFFF00; Yellow2 = 0xEEEE00; Yellow3 = 0xCDCD00; Yellow4 = 0x8B8B00; Gold1 = 0xFFD700; Gold2 = 0xEEC900
    Gold3 = 0xCDAD00; Gold4 = 0x8B7500; Goldenrod1 = 0xFFC125; Goldenrod2 = 0xEEB422; Goldenrod3 = 0xCD9B1D; Goldenrod4 = 0x8B6914
    DarkGoldenrod1 = 0xFFB90F; DarkGoldenrod2 = 0xEEAD0E; DarkGoldenrod3 = 0xCD950C; DarkGoldenrod4 = 0x8B6508; RosyBrown1 = 0xFFC1C1
    RosyBrown2 = 0xEEB4B4; RosyBrown3 = 0xCD9B9B; RosyBrown4 = 0x8B6969; IndianRed1 = 0xFF6A6A; IndianRed2 = 0xEE6363; IndianRed3 = 0xCD5555
    IndianRed4 = 0x8B3A3A; Sienna1 = 0xFF8247; Sienna2 = 0xEE7942; Sienna3 = 0xCD6839; Sienna4 = 0x8B4726; Burlywood1 = 0xFFD39B
    Burlywood2 = 0xEEC591; Burlywood3 = 0xCDAA7D; Burlywood4 = 0x8B7355; Wheat1 = 0xFFE7BA; Wheat2 = 0xEED8AE; Wheat3 = 0xCDBA96; Wheat4 = 0x8B7E66
    Tan1 = 0xFFA54F; Tan2 = 0xEE9A49; Tan3 = 0xCD853F; Tan4 = 0x8B5A2B; Chocolate1 = 0xFF7F24; Chocolate2 = 0xEE7621; Chocolate3 = 0xCD661D
    Chocolate4 = 0x8B4513; Firebrick1 = 0xFF3030; Firebrick2 = 0xEE2C2C; Firebrick3 = 0xCD2626; Firebrick4 = 0x8B1A1A; Brown1 = 0xFF4040
    Brown2 = 0xEE3B3B; Brown3 = 0xCD3333; Brown4 = 0x8B2323; Salmon1 = 0xFF8C69; Salmon2 = 0xEE8262; Salmon3 = 0xCD7054; Salmon4 = 0x8B4C39
    LightSalmon1 = 0xFFA07A; LightSalmon2 = 0xEE9572; LightSalmon3 = 0xCD8162; LightSalmon4 = 0x8B5742; Orange1 = 0xFFA500; Orange2 = 0xEE9A00
    Orange3 = 0xCD8500; Orange4 = 0x8B5A00; DarkOrange1 = 0xFF7F00; DarkOrange2 = 0xEE7600; DarkOrange3 = 0xCD6600; DarkOrange4 = 0x8B4500
    Coral1 = 0xFF7256; Coral2 = 0xEE6A50; Coral3 = 0xCD5B45; Coral4 = 0x8B3E2F; Tomato1 = 0xFF6347; Tomato2 = 0xEE5C42; Tomato3 = 0xCD4F39
    Tomato4 = 0x8B3626; OrangeRed1 = 0xFF4500; OrangeRed2 = 0xEE4000; OrangeRed3 = 0xCD3700; OrangeRed4 = 0x8B2500; Red1 = 0xFF0000; Red2 = 0xEE0000
    Red3 = 0xCD0000; Red4 = 0x8B0000; DeepPink1 = 0xFF1493; DeepPink2 = 0xEE1289; DeepPink3 = 0xCD1076; DeepPink4 = 0x8B0A50; HotPink1 = 0xFF6EB4
    HotPink2 = 0xEE6AA7; HotPink3 = 0xCD6090; HotPink4 = 0x8B3A62; Pink1 = 0xFFB5C5; Pink2 = 0xEEA9B8; Pink3 = 0xCD919E; Pink4 = 0x8B636C
    LightPink1 = 0xFFAEB9; LightPink2 = 0xEEA2AD; LightPink3 = 0xCD8C95; LightPink4 = 0x8B5F65; PaleVioletRed1 = 0xFF82AB; PaleVioletRed2 = 0xEE799F
    PaleVioletRed3 = 0xCD6889; PaleVioletRed4 = 0x8B475D; Maroon1 = 0xFF34B3; Maroon2 = 0xEE30A7; Maroon3 = 0xCD2990; Maroon4 = 0x8B1C62
    VioletRed1 = 0xFF3E96; VioletRed2 = 0xEE3A8C; VioletRed3 = 0xCD3278; VioletRed4 = 0x8B2252; Magenta1 = 0xFF00FF; Magenta2 = 0xEE00EE
    Magenta3 = 0xCD00CD; Magenta4 = 0x8B008B; Orchid1 = 0xFF83FA; Orchid2 = 0xEE7AE9; Orchid3 = 0xCD69C9; Orchid4 = 0x8B4789; Plum1 = 0xFFBBFF
    Plum2 = 0xEEAEEE; Plum3 = 0xCD96CD; Plum4 = 0x8B668B; MediumOrchid1 = 0xE066FF; MediumOrchid2 = 0xD15FEE; MediumOrchid3 = 0xB452CD
    MediumOrchid4 = 0x7A378B; DarkOrchid1 = 0xBF3EFF; DarkOrchid2 = 0xB23AEE; DarkOrchid3 = 0x9A32CD; DarkOrchid4 = 0x68228B; Purple1 = 0x9B30FF
    Purple2 = 0x912CEE; Purple3 = 0x7D26CD; Purple4 = 0x551A8B; MediumPurple1 = 0xAB82FF; MediumPurple2 = 0x9F79EE; MediumPurple3 = 0x8968CD
    MediumPurple4 = 0x5D478B; Thistle1 = 0xFFE1FF; Thistle2 = 0xEED2EE; Thistle3 = 0xCDB5CD; Thistle4 = 0x8B7B8B; Gray0 = 0x000000; Grey0 = 0x000000
    Gray1 = 0x030303; Grey1 = 0x030303; Gray2 = 0x050505; Grey2 = 0x050505; Gray3 = 0x080808; Grey3 = 0x080808; Gray4 = 0x0A0A0A; Grey4 = 0x0A0A0A
    Gray5 = 0x0D0D0D; Grey5 = 0x0D0D0D; Gray6 = 0x0F0F0F; Grey6 = 0x0F0F0F; Gray7 = 0x121212; Grey7 = 0x121212; Gray8 = 0x141414; Grey8 = 0x141414
    Gray9 = 0x171717; Grey9 = 0x171717; Gray10 = 0x1A1A1A; Grey10 = 0x1A1A1A; Gray11 = 0x1C1C1C; Grey11 = 0x1C1C1C; Gray12 = 0x1F1F1F
    Grey12 = 0x1F1F1F; Gray13 = 0x212121; Grey13 = 0x212121; Gray14 = 0x242424; Grey14 = 0x242424; Gray15 = 0x262626; Grey15 = 0x262626
    Gray16 = 0x292929; Grey16 = 0x292929; Gray17 = 0x2B2B2B; Grey17 = 0x2B2B2B; Gray18 = 0x2E2E2E; Grey18 = 0x2E2E2E; Gray19 = 0x303030
    Grey19 = 0x303030; Gray20 = 0x333333; Grey20 = 0x333333; Gray21 = 0x363636; Grey21 = 0x363636; Gray22 = 0x383838; Grey22 = 0x383838
    Gray23 = 0x3B3B3B; Grey23 = 0x3B3B3B; Gray24 = 0x3D3D3D; Grey24 = 0x3D3D3D; Gray25 = 0x404040; Grey25 = 0x404040; Gray26 = 0x424242
    Grey26 = 0x424242; Gray27 = 0x454545; Grey27 = 0x454545; Gray28 = 0x474747; Grey28 = 0x474747; Gray29 = 0x4A4A4A; Grey29 = 0x4A4A4A
    Gray30 = 0x4D4D4D; Grey30 = 0x4D4D4D; Gray31 = 0x4F4F4F; Grey31 = 0x4F4F4F; Gray32 = 0x525252; Grey32 = 0x525252; Gray33 = 0x545454
    Grey33 = 0x545454; Gray34 = 0x575757; Grey34 = 0x575757; Gray35 = 0x595959; Grey35 = 0x595959; Gray36 = 0x5C5C5C; Grey36 = 0x5C5C5C
    Gray37 = 0x5E5E5E; Grey37 = 0x5E5E5E; Gray38 = 0x616161; Grey38 = 0x616161; Gray39 = 0x636363; Grey39 = 0x636363; Gray40 = 0x666666
    Grey40 = 0x666666; Gray41 = 0x696969; Grey41 = 0x696969; Gray42 = 0x6B6B6B; Grey42 = 0x6B6B6B; Gray43 = 0x6E6E6E; Grey43 = 0x6E6E6E
    Gray44 = 0x707070; Grey44 = 0x707070; Gray45 = 0x737373; Grey45 = 0x737373; Gray46 = 0x757575; Grey46 = 0x757575; Gray47 = 0x787878
    Grey47 = 0x787878; Gray48 = 0x7A7A7A; Grey48 = 0x7A7A7A; Gray49 = 0x7D7D7D; Grey49 = 0x7D7D7D; Gray50 = 0x7F7F7F; Grey50 = 0x7F7F7F
    Gray51 = 0x828282; Grey51 = 0x828282; Gray52 = 0x858585; Grey52 = 0x858585; Gray53 = 0x878787; Grey53 = 0x878787; Gray54 = 0x8A8A8A
    Grey54 = 0x8A8A8A; Gray55 = 0x8C8C8C; Grey55 = 0x8C8C8C; Gray56 = 0x8F8F8F; Grey56 = 0x8F8F8F; Gray57 = 0x919191; Grey57 = 0x919191
    Gray58 = 0x949494; Grey58 = 0x949494; Gray59 = 0x969696; Grey59 = 0x969696; Gray60 = 0x999999; Grey60 = 0x999999; Gray61 = 0x9C9C9C
    Grey61 = 0x9C9C9C; Gray62 = 0x9E9E9E; Grey62 = 0x9E9E9E; Gray63 = 0xA1A1A1; Grey63 = 0xA1A1A1; Gray64 = 0xA3A3A3; Grey64 = 0xA3A3A3
    Gray65 = 0xA6A6A6; Grey65 = 0xA6A6A6; Gray66 = 0xA8A8A8; Grey66 = 0xA8A8A8; Gray67 = 0xABABAB; Grey67 = 0xABABAB; Gray68 = 0xADADAD
    Grey68 = 0xADADAD; Gray69 = 0xB0B0B0; Grey69 = 0xB0B0B0; Gray70 = 0xB3B3B3; Grey70 = 0xB3B3B3; Gray71 = 0xB5B5B5; Grey71 = 0xB5B5B5
    Gray72 = 0xB8B8B8; Grey72 = 0xB8B8B8; Gray73 = 0xBABABA; Grey73 = 0xBABABA; Gray74 = 0xBDBDBD; Grey74 = 0xBDBDBD; Gray75 = 0xBFBFBF
    Grey75 = 0xBFBFBF; Gray76 = 0xC2C2C2; Grey76 = 0xC2C2C2; Gray77 = 0xC4C4C4; Grey77 = 0xC4C4C4; Gray78 = 0xC7C7C7; Grey78 = 0xC7C7C7
    Gray79 = 0xC9C9C9; Grey79 = 0xC9C9C9; Gray80 = 0xCCCCCC; Grey80 = 0xCCCCCC; Gray81 = 0xCFCFCF; Grey81 = 0xCFCFCF; Gray82 = 0xD1D1D1
    Grey82 = 0xD1D1D1; Gray83 = 0xD4D4D4; Grey83 = 0xD4D4D4; Gray84 = 0xD6D6D6; Grey84 = 0xD6D6D6; Gray85 = 0xD9D9D9; Grey85 = 0xD9D9D9
    Gray86 = 0xDBDBDB; Grey86 = 0xDBDBDB; Gray87 = 0xDEDEDE; Grey87 = 0xDEDEDE; Gray88 = 0xE0E0E0; Grey88 = 0xE0E0E0; Gray89 = 0xE3E3E3
    Grey89 = 0xE3E3E3; Gray90 = 0xE5E5E5; Grey90 = 0xE5E5E5; Gray91 = 0xE8E8E8; Grey91 = 0xE8E8E8; Gray92 = 0xEBEBEB; Grey92 = 0xEBEBEB
    Gray93 = 0xEDEDED; Grey93 = 0xEDEDED; Gray94 = 0xF0F0F0; Grey94 = 0xF0F0F0; Gray95 = 0xF2F2F2; Grey95 = 0xF2F2F2; Gray96 = 0xF5F5F5
    Grey96 = 0xF5F5F5; Gray97 = 0xF7F7F7; Grey97 = 0xF7F7F7; Gray98 = 0xFAFAFA; Grey98 = 0xFAFAFA; Gray99 = 0xFCFCFC; Grey99 = 0xFCFCFC
    Gray100 = 0xFFFFFF; Grey100 = 0xFFFFFF
