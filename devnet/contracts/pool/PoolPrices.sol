// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {BinState} from "../interfaces/PoolTypes.sol";
import {IPriceProvider} from "../interfaces/IPriceProvider.sol";
import {BinMath} from "../libraries/BinMath.sol";
import {FullMath} from "../libraries/FullMath.sol";
import {PoolExtensions} from "./PoolExtensions.sol";

/// How a pool reads its provider, and the prices it shows.
abstract contract PoolPrices is PoolExtensions {
    error PriceProviderFailed(bytes reason);
    error BidGreaterThanAsk();
    error BidIsZero();

    uint256 private constant E6 = 1e6;
    uint256 private constant E8 = 1e8;

    function inSwap() external view returns (address priceProvider) {
        return priceReadProvider;
    }

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

    function _feeX64(uint256 feeE6) internal pure returns (uint256) {
        return FullMath.mulDivFloor(feeE6, BinMath.Q64, E6);
    }

    function _provider() internal view returns (address) {
        return IMMUTABLE_PRICE_PROVIDER == address(0) ? mutablePriceProvider : IMMUTABLE_PRICE_PROVIDER;
    }

    /// Bid and ask of the provider, which may ask `inSwap()` meanwhile.
    function _readProvider() internal returns (uint128 bid, uint128 ask) {
        address provider = _provider();
        priceReadProvider = provider;
        (bool ok, bytes memory answer) = provider.call(abi.encodeCall(IPriceProvider.getBidAndAskPrice, ()));
        priceReadProvider = address(0);
        if (!ok || answer.length < 64) revert PriceProviderFailed(answer);
        (bid, ask) = abi.decode(answer, (uint128, uint128));
        _checkQuote(bid, ask);
    }

    function _checkQuote(uint128 bid, uint128 ask) internal pure {
        if (bid == 0) revert BidIsZero();
        if (bid >= ask) revert BidGreaterThanAsk();
    }
}
