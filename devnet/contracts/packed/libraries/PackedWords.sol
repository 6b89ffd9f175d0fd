// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {FullMath} from "../../libraries/FullMath.sol";

/// Words of events that hold more than one number.
library PackedWords {
    /// Two int128, the first in the high half.
    function signedPair(int256 high, int256 low) internal pure returns (uint256) {
        return (uint256(high) << 128) | uint128(int128(low));
    }

    /// Two uint128, the first in the high half.
    function pair(uint256 high, uint256 low) internal pure returns (uint256) {
        return (uint256(FullMath.toUint128(high)) << 128) | FullMath.toUint128(low);
    }

    function flagsFirst(bool zeroForOne, bool exactInput, int256 bin, uint256 position) internal pure returns (uint256) {
        return _bit(zeroForOne) | (_bit(exactInput) << 1) | (uint256(uint16(int16(bin))) << 8) | (position << 24);
    }

    function positionFirst(bool zeroForOne, bool exactInput, int256 bin, uint256 position)
        internal
        pure
        returns (uint256)
    {
        return position | (uint256(uint16(int16(bin))) << 104) | (_bit(zeroForOne) << 120) | (_bit(exactInput) << 121);
    }

    function _bit(bool value) private pure returns (uint256) {
        return value ? 1 : 0;
    }
}
