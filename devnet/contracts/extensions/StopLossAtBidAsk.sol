// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {IPool} from "../interfaces/IPool.sol";
import {BinMath} from "../libraries/BinMath.sol";
import {FullMath} from "../libraries/FullMath.sol";
import {StopLossBase} from "./StopLossBase.sol";

/// Values bins at the provider's own prices: token1 at the bid, token0 at the ask. It divides by shares before it
/// converts, and takes no fewer shares than the pool's least liquidity.
abstract contract StopLossAtBidAsk is StopLossBase {
    function _marks(uint128 bidX64, uint128 askX64) internal pure override returns (Marks memory) {
        return Marks(bidX64, askX64);
    }

    function _metrics(uint256 balance0, uint256 balance1, uint256 shares, Marks memory marks)
        internal
        view
        override
        returns (uint256, uint256)
    {
        uint256 least = IPool(msg.sender).getImmutables().minimalMintableLiquidity;
        if (shares < least) shares = least;
        uint256 perShare0 = FullMath.mulDivFloor(balance0, E18, shares);
        uint256 perShare1 = FullMath.mulDivFloor(balance1, E18, shares);
        return (
            perShare0 + FullMath.mulDivFloor(perShare1, BinMath.Q64, marks.in0X64),
            FullMath.mulDivFloor(perShare0, marks.in1X64, BinMath.Q64) + perShare1
        );
    }
}
