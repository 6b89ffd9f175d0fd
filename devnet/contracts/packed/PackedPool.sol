// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {PoolImmutables, PoolStart} from "../interfaces/PoolTypes.sol";
import {PoolLiquidity} from "../pool/PoolLiquidity.sol";
import {PoolState} from "../pool/PoolState.sol";
import {PackedVariant, Quote} from "./PackedTypes.sol";
import {PackedAdministration} from "./pool/PackedAdministration.sol";
import {PackedHead} from "./pool/PackedHead.sol";
import {PackedSwaps} from "./pool/PackedSwaps.sol";

/// Oracle-anchored pool of bins, packed layout, but for its simulation.
abstract contract PackedPoolBase is PackedSwaps, PoolLiquidity, PackedAdministration {
    constructor(PoolImmutables memory fixedPart, PoolStart memory start, PackedVariant memory variant)
        PackedHead(start)
        PoolState(fixedPart, start)
        PackedSwaps(variant)
    {}
}

/// Simulates a swap of the caller.
contract PackedPool is PackedPoolBase {
    constructor(PoolImmutables memory fixedPart, PoolStart memory start, PackedVariant memory variant)
        PackedPoolBase(fixedPart, start, variant)
    {}

    function simulateSwapAndRevert(
        address recipient,
        bool zeroForOne,
        int128 amountSpecified,
        uint128 priceLimitX64,
        uint128 bidPriceX64,
        uint128 askPriceX64,
        uint128 referencePriceX64,
        bytes calldata extensionData
    ) external returns (int128, int128) {
        Quote memory quote = Quote(bidPriceX64, askPriceX64, referencePriceX64);
        _simulate(
            _context(msg.sender, recipient, zeroForOne, amountSpecified, quote), priceLimitX64, quote, extensionData
        );
    }
}

/// Simulates for the sender that the caller names.
contract PackedPoolOfSender is PackedPoolBase {
    constructor(PoolImmutables memory fixedPart, PoolStart memory start, PackedVariant memory variant)
        PackedPoolBase(fixedPart, start, variant)
    {}

    function simulateSwapAndRevert(
        address sender,
        address recipient,
        bool zeroForOne,
        int128 amountSpecified,
        uint128 priceLimitX64,
        uint128 bidPriceX64,
        uint128 askPriceX64,
        uint128 referencePriceX64,
        bytes calldata extensionData
    ) external returns (int128, int128) {
        Quote memory quote = Quote(bidPriceX64, askPriceX64, referencePriceX64);
        _simulate(_context(sender, recipient, zeroForOne, amountSpecified, quote), priceLimitX64, quote, extensionData);
    }
}
