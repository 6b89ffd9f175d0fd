// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {PoolStart} from "../../interfaces/PoolTypes.sol";

/// Slot 0 of a pool of the packed generation. It must be the first base of whatever has storage.
abstract contract PackedHead {
    uint8 internal pauseLevel;
    int16 internal curBinIdx;
    uint104 internal curPosInBin;
    int24 internal curBinDistE6;
    uint24 internal spreadFeeE6;
    uint24 internal notionalFeeE8;
    /// A setting that swaps do not look at: what it does in production is not public.
    uint16 internal bidAskRefAsymmetryX8;

    constructor(PoolStart memory start) {
        curBinDistE6 = start.curBinDistFromProvidedPriceE6;
        spreadFeeE6 = start.spreadFeeE6;
        notionalFeeE8 = start.notionalFeeE8;
        bidAskRefAsymmetryX8 = start.bidAskRefAsymmetryX8;
    }
}
