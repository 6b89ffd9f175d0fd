// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {IOracle, IPriceProvider} from "../interfaces/IPriceProvider.sol";
import {FullMath} from "../libraries/FullMath.sol";

/// What recognised providers share: their tokens, their oracle, a margin step, and a confidence that widens the spread.
abstract contract ProviderBase is IPriceProvider {
    event ConfidenceParamSet(uint256 indexed newValue);

    error FeedStalled();
    error OnlyCreator();

    uint256 internal constant E18 = 1e18;
    uint256 internal constant Q64 = 1 << 64;

    address public immutable token0;
    address public immutable token1;
    address public immutable offchainOracle;
    address public immutable creator;
    /// Added to the half-spread, a fraction E18; may be negative.
    int256 public immutable marginStep;
    /// Factor on the feeds' own spread, E18.
    uint256 public confidenceParam = E18;

    constructor(address base, address quote, address oracle, address creator_, int256 marginStep_) {
        token0 = base;
        token1 = quote;
        offchainOracle = oracle;
        creator = creator_;
        marginStep = marginStep_;
    }

    function _setConfidenceParam(uint256 newValue) internal {
        if (msg.sender != creator) revert OnlyCreator();
        confidenceParam = newValue;
        emit ConfidenceParamSet(newValue);
    }

    /// A fresh price of a feed and its half-spread.
    function _fresh(bytes32 feedId, uint256 maxAge) internal view returns (uint256 priceX64, uint256 spreadE18) {
        uint256 timestamp;
        (priceX64, spreadE18, timestamp) = IOracle(offchainOracle).read(feedId, msg.sender);
        if (priceX64 == 0 || block.timestamp > timestamp + maxAge) revert FeedStalled();
    }

    /// Half of the quoted spread, E18.
    function _halfSpread(uint256 feedSpreadE18) internal view returns (int256) {
        return int256(FullMath.mulDivFloor(feedSpreadE18, confidenceParam, E18)) + marginStep;
    }

    /// Mid less and plus the half-spread, which may be negative: then bid and ask cross.
    function _around(uint256 midX64, int256 halfE18) internal pure returns (uint128 bid, uint128 ask) {
        int256 whole = int256(E18);
        bid = FullMath.toUint128(FullMath.mulDivFloor(midX64, uint256(halfE18 > whole ? int256(0) : whole - halfE18), E18));
        ask = FullMath.toUint128(FullMath.mulDivCeil(midX64, uint256(halfE18 < -whole ? int256(0) : whole + halfE18), E18));
    }
}
