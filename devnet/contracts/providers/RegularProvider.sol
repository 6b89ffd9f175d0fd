// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {ProviderBase} from "./ProviderBase.sol";

struct RegularParameters {
    address base;
    address quote;
    bytes32 feedId;
    int256 marginStep;
    /// Seconds.
    uint256 maxTimeDelta;
    address oracle;
}

/// Quotes one feed as it is, with the creator's confidence.
contract RegularProvider is ProviderBase {
    bytes32 public immutable offchainFeedId;
    uint256 public immutable MAX_TIME_DELTA;

    constructor(RegularParameters memory p, address creator_)
        ProviderBase(p.base, p.quote, p.oracle, creator_, p.marginStep)
    {
        offchainFeedId = p.feedId;
        MAX_TIME_DELTA = p.maxTimeDelta;
    }

    function setConfidenceParam(uint256 newValue) external {
        _setConfidenceParam(newValue);
    }

    function getBidAndAskPrice() external view returns (uint128 bid, uint128 ask) {
        (uint256 mid, uint256 spread) = _fresh(offchainFeedId, MAX_TIME_DELTA);
        return _around(mid, _halfSpread(spread));
    }
}
