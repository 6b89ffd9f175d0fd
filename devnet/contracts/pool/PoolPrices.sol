// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {BinState} from "../interfaces/PoolTypes.sol";
import {IPriceProvider} from "../interfaces/IPriceProvider.sol";
import {BinMath} from "../libraries/BinMath.sol";
import {FullMath} from "../libraries/FullMath.sol";
import {PoolHead} from "./PoolHead.sol";
import {PoolProvider} from "./PoolProvider.sol";

/// How a pool reads its provider, and the prices it shows.
abstract contract PoolPrices is PoolHead, PoolProvider {
    function getSellAndBuyPrices() external returns (uint128 sellPriceX64, uint128 buyPriceX64) {
        (uint128 bid, uint128 ask) = _readProvider();
        uint256 mid = BinMath.midPrice(bid, ask);
        uint256 baseFee = BinMath.baseFee(ask, mid);
        BinState memory bin = bins[curBinIdx];
        int256 distance = curBinDistFromProvidedPriceE6;
        uint256 price = BinMath.priceFloor(
            BinMath.edgePrice(mid, distance),
            BinMath.edgePrice(mid, distance + int256(uint256(bin.lengthE6))),
            curPosInBin
        );
        uint256 buyFee = baseFee + _feeX64(bin.addFeeBuyE6);
        uint256 sellFee = baseFee + _feeX64(bin.addFeeSellE6);
        uint256 buy = FullMath.mulDivCeil(price, BinMath.Q64 + buyFee, BinMath.Q64);
        uint256 sell = FullMath.mulDivFloor(price, BinMath.Q64, BinMath.Q64 + sellFee);
        buyPriceX64 = FullMath.toUint128(FullMath.mulDivCeil(buy, E8, E8 - notionalFeeE8));
        sellPriceX64 = FullMath.toUint128(FullMath.mulDivFloor(sell, E8 - notionalFeeE8, E8));
    }

    function _cursor() internal view override returns (int256, uint256, int256) {
        return (curBinIdx, curPosInBin, curBinDistFromProvidedPriceE6);
    }

    function _readProvider() internal returns (uint128 bid, uint128 ask) {
        (bid, ask) = abi.decode(_askProvider(IPriceProvider.getBidAndAskPrice.selector, 2), (uint128, uint128));
        _checkQuote(bid, ask);
    }

    function _checkQuote(uint128 bid, uint128 ask) internal pure {
        if (bid == 0) revert BidIsZero();
        if (bid >= ask) revert BidGreaterThanAsk();
    }
}
