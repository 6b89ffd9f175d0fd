// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {BinMath} from "../libraries/BinMath.sol";
import {FullMath} from "../libraries/FullMath.sol";
import {PoolExtensions} from "./PoolExtensions.sol";

/// How a pool asks its provider.
abstract contract PoolProvider is PoolExtensions {
    error PriceProviderFailed(bytes reason);
    error BidGreaterThanAsk();
    error BidIsZero();

    uint256 internal constant E6 = 1e6;
    uint256 internal constant E8 = 1e8;

    function inSwap() external view returns (address priceProvider) {
        return priceReadProvider;
    }

    /// What the provider answers, at least that many words. It may ask `inSwap()` meanwhile.
    function _askProvider(bytes4 selector, uint256 words) internal returns (bytes memory) {
        address provider = IMMUTABLE_PRICE_PROVIDER == address(0) ? mutablePriceProvider : IMMUTABLE_PRICE_PROVIDER;
        priceReadProvider = provider;
        (bool ok, bytes memory answer) = provider.call(abi.encodeWithSelector(selector));
        priceReadProvider = address(0);
        if (!ok || answer.length < 32 * words) revert PriceProviderFailed(answer);
        return answer;
    }

    function _feeX64(uint256 feeE6) internal pure returns (uint256) {
        return FullMath.mulDivFloor(feeE6, BinMath.Q64, E6);
    }
}
