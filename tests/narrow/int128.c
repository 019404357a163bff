/* int128.c - what a compiler calls for divisions of 128 bits: its library for machines of 32 bits has none. Bit by bit.
 * SPDX-License-Identifier: MIT */
typedef unsigned __int128 wide;

wide __udivmodti4(wide a, wide b, wide *rest);
wide __udivti3(wide a, wide b);
wide __umodti3(wide a, wide b);
__int128 __divti3(__int128 a, __int128 b);
__int128 __modti3(__int128 a, __int128 b);
__int128 __multi3(__int128 a, __int128 b);

wide __udivmodti4(wide a, wide b, wide *rest)
{
    wide quotient = 0, left = 0;
    for (int i = 127; i >= 0; i--) {
        int carry = (int)(left >> 127);
        left = left << 1 | (a >> i & 1);
        if (carry || left >= b) {
            left -= b;
            quotient |= (wide)1 << i;
        }
    }
    if (rest)
        *rest = left;
    return quotient;
}

wide __udivti3(wide a, wide b)
{
    return __udivmodti4(a, b, 0);
}

wide __umodti3(wide a, wide b)
{
    wide rest;
    __udivmodti4(a, b, &rest);
    return rest;
}

__int128 __divti3(__int128 a, __int128 b)
{
    wide quotient = __udivmodti4(a < 0 ? -(wide)a : (wide)a, b < 0 ? -(wide)b : (wide)b, 0);
    return (__int128)((a < 0) == (b < 0) ? quotient : -quotient);
}

__int128 __modti3(__int128 a, __int128 b)
{
    wide rest;
    __udivmodti4(a < 0 ? -(wide)a : (wide)a, b < 0 ? -(wide)b : (wide)b, &rest);
    return (__int128)(a < 0 ? -rest : rest);
}

static wide product(unsigned long long a, unsigned long long b)
{
    unsigned long long low = (a & 0xffffffff) * (b & 0xffffffff), high = (a >> 32) * (b >> 32);
    unsigned long long one = (a >> 32) * (b & 0xffffffff), other = (a & 0xffffffff) * (b >> 32);
    unsigned long long middle = (low >> 32) + (one & 0xffffffff) + (other & 0xffffffff);
    high += (one >> 32) + (other >> 32) + (middle >> 32);
    return (wide)high << 64 | (middle << 32 | (low & 0xffffffff));
}

__int128 __multi3(__int128 a, __int128 b)
{
    unsigned long long a0 = (unsigned long long)a, a1 = (unsigned long long)(a >> 64);
    unsigned long long b0 = (unsigned long long)b, b1 = (unsigned long long)(b >> 64);
    return (__int128)(product(a0, b0) + ((wide)(a0 * b1 + a1 * b0) << 64));
}
