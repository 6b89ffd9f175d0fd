// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {BinState} from "../interfaces/PoolTypes.sol";

/// Bin shapes packed five to a word, 48 bits each from the least significant: lengthE6, addFeeBuyE6, addFeeSellE6 of
/// 16 bits. A zero length ends the list.
library BinData {
    uint256 private constant BINS_PER_WORD = 5;
    uint256 private constant BITS_PER_BIN = 48;

    /// Shape of the n-th bin of a list; length 0 beyond its end.
    function binAt(uint256[] memory words, uint256 n) internal pure returns (BinState memory bin) {
        if (n / BINS_PER_WORD >= words.length) return bin;
        uint256 data = words[n / BINS_PER_WORD] >> ((n % BINS_PER_WORD) * BITS_PER_BIN);
        bin.lengthE6 = uint16(data);
        bin.addFeeBuyE6 = uint16(data >> 16);
        bin.addFeeSellE6 = uint16(data >> 32);
    }

    /// Number of bins of a list and the sum of their lengths.
    function measure(uint256[] memory words) internal pure returns (uint256 count, uint256 totalLengthE6) {
        for (;; count++) {
            uint256 length = binAt(words, count).lengthE6;
            if (length == 0) return (count, totalLengthE6);
            totalLengthE6 += length;
        }
    }
}
