// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {BinState, PoolImmutables} from "../interfaces/PoolTypes.sol";
import {IPool} from "../interfaces/IPool.sol";

/// Reads a pool's storage into structs for people at a block explorer.
contract DataProvider {
    struct Head {
        uint8 pauseLevel;
        int8 curBinIdx;
        uint104 curPosInBin;
        int24 curBinDistFromProvidedPriceE6;
        uint24 spreadFeeE6;
        uint24 notionalFeeE8;
    }

    function getHead(IPool pool) external view returns (Head memory head) {
        uint256 word = uint256(pool.extsload(bytes32(0)));
        head.pauseLevel = uint8(word);
        head.curBinIdx = int8(uint8(word >> 8));
        head.curPosInBin = uint104(word >> 16);
        head.curBinDistFromProvidedPriceE6 = int24(uint24(word >> 120));
        head.spreadFeeE6 = uint24(word >> 144);
        head.notionalFeeE8 = uint24(word >> 168);
    }

    /// Bins from the lowest to the highest.
    function getBins(IPool pool) external view returns (int256 lowestBin, BinState[] memory bins) {
        PoolImmutables memory fixedPart = pool.getImmutables();
        lowestBin = fixedPart.lowestBin;
        bins = new BinState[](uint256(fixedPart.highestBin - lowestBin + 1));
        for (uint256 i = 0; i < bins.length; i++) {
            uint256 word = uint256(pool.extsload(keccak256(abi.encode(lowestBin + int256(i), uint256(4)))));
            bins[i] = BinState(
                uint104(word), uint104(word >> 104), uint16(word >> 208), uint16(word >> 224), uint16(word >> 240)
            );
        }
    }
}
