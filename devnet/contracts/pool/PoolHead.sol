// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {PoolStart} from "../interfaces/PoolTypes.sol";

/// Slot 0 of a pool of the flat generation. It must be the first base of whatever has storage.
abstract contract PoolHead {
    uint8 internal pauseLevel;
    int8 internal curBinIdx;
    uint104 internal curPosInBin;
    int24 internal curBinDistFromProvidedPriceE6;
    uint24 internal spreadFeeE6;
    uint24 internal notionalFeeE8;

    constructor(PoolStart memory start) {
        curBinDistFromProvidedPriceE6 = start.curBinDistFromProvidedPriceE6;
        spreadFeeE6 = start.spreadFeeE6;
        notionalFeeE8 = start.notionalFeeE8;
    }
}
