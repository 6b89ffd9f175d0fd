// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

/// Integer arithmetic with a 512-bit intermediate product.
library FullMath {
    error MulDivOverflow();
    error CastOverflow();

    /// floor(a * b / denominator).
    function mulDivFloor(uint256 a, uint256 b, uint256 denominator) internal pure returns (uint256) {
        (uint256 high, uint256 low) = fullMul(a, b);
        if (high == 0) return low / denominator;
        if (denominator <= high) revert MulDivOverflow();
        return _divide512(high, low, denominator, mulmod(a, b, denominator));
    }

    /// ceil(a * b / denominator).
    function mulDivCeil(uint256 a, uint256 b, uint256 denominator) internal pure returns (uint256 result) {
        result = mulDivFloor(a, b, denominator);
        if (mulmod(a, b, denominator) > 0) result += 1;
    }

    function divCeil(uint256 a, uint256 denominator) internal pure returns (uint256) {
        return a == 0 ? 0 : (a - 1) / denominator + 1;
    }

    /// The 512-bit product as two words.
    function fullMul(uint256 a, uint256 b) internal pure returns (uint256 high, uint256 low) {
        unchecked {
            // The product modulo 2^256 - 1 and modulo 2^256 give its two words (Chinese remainder theorem).
            uint256 modMax = mulmod(a, b, type(uint256).max);
            low = a * b;
            high = modMax - low - (modMax < low ? 1 : 0);
        }
    }

    /// floor(sqrt(value)).
    function isqrt(uint256 value) internal pure returns (uint256 root) {
        if (value == 0) return 0;
        unchecked {
            // Start above the root: Newton's steps then only fall, until they stop at its floor.
            uint256 bits = 0;
            for (uint256 rest = value; rest > 0; rest >>= 8) bits += 8;
            root = uint256(1) << ((bits + 1) / 2);
            if (root > type(uint128).max) root = type(uint128).max;
            while (true) {
                uint256 next = (root + value / root) / 2;
                if (next >= root) return root;
                root = next;
            }
        }
    }

    function toUint104(uint256 value) internal pure returns (uint104) {
        if (value > type(uint104).max) revert CastOverflow();
        return uint104(value);
    }

    function toUint128(uint256 value) internal pure returns (uint128) {
        if (value > type(uint128).max) revert CastOverflow();
        return uint128(value);
    }

    /// Exact division of (high, low) - remainder by the denominator, which is larger than `high`.
    function _divide512(uint256 high, uint256 low, uint256 denominator, uint256 remainder)
        private
        pure
        returns (uint256)
    {
        unchecked {
            if (remainder > low) high -= 1;
            low -= remainder;
            // Take the powers of two out, so that the denominator is odd and has an inverse modulo 2^256.
            uint256 twos = denominator & (0 - denominator);
            denominator /= twos;
            low /= twos;
            low |= high * ((0 - twos) / twos + 1);
            // Newton's steps double the correct bits: 3 are correct at the start, 384 after seven.
            uint256 inverse = 3 * denominator ^ 2;
            for (uint256 i = 0; i < 7; i++) inverse *= 2 - denominator * inverse;
            return low * inverse;
        }
    }
}
