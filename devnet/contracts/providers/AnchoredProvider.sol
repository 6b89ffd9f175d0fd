// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {IPriceSource} from "../interfaces/IPriceProvider.sol";
import {FullMath} from "../libraries/FullMath.sol";
import {ProviderBase} from "./ProviderBase.sol";

struct AnchoredParameters {
    address base;
    address quote;
    bytes32 baseFeedId;
    /// Zero: the base feed is the price. Otherwise the price is base feed over quote feed.
    bytes32 quoteFeedId;
    bytes32 classId;
    /// Fraction E18.
    uint256 minMargin;
    /// Seconds.
    uint256 maxRefStaleness;
    uint16 maxSpreadBps;
    bool mutableParams;
    int256 marginStep;
    address oracle;
}

/// Quotes around the reference mid of its feeds. A custom source may narrow or shift the quote inside that band.
contract AnchoredProvider is ProviderBase {
    error ParamsAreImmutable();
    error OnlyFactory();

    bytes32 public immutable baseFeedId;
    bytes32 public immutable quoteFeedId;
    bytes32 public immutable classId;
    uint256 public immutable minMargin;
    uint256 public immutable MAX_REF_STALENESS;
    uint16 public immutable MAX_SPREAD_BPS;
    bool public immutable MUTABLE_PARAMS;
    address public immutable factory;
    address public source;

    constructor(AnchoredParameters memory p, address creator_)
        ProviderBase(p.base, p.quote, p.oracle, creator_, p.marginStep)
    {
        baseFeedId = p.baseFeedId;
        quoteFeedId = p.quoteFeedId;
        classId = p.classId;
        minMargin = p.minMargin;
        MAX_REF_STALENESS = p.maxRefStaleness;
        MAX_SPREAD_BPS = p.maxSpreadBps;
        MUTABLE_PARAMS = p.mutableParams;
        factory = msg.sender;
    }

    function setConfidenceParam(uint256 newValue) external {
        if (!MUTABLE_PARAMS) revert ParamsAreImmutable();
        _setConfidenceParam(newValue);
    }

    function setSource(address newSource) external {
        if (msg.sender != factory) revert OnlyFactory();
        source = newSource;
    }

    function getBidAndAskPrice() external view returns (uint128 bid, uint128 ask) {
        (uint256 mid, uint256 spread) = _fresh(baseFeedId, MAX_REF_STALENESS);
        if (quoteFeedId != 0) {
            (uint256 quoteMid, uint256 quoteSpread) = _fresh(quoteFeedId, MAX_REF_STALENESS);
            mid = FullMath.mulDivFloor(mid, Q64, quoteMid);
            spread += quoteSpread;
        }
        if (spread > uint256(MAX_SPREAD_BPS) * 1e14) revert FeedStalled();
        (bid, ask) = _around(mid, _halfSpread(spread) + int256(minMargin));
        if (source != address(0)) return _clip(bid, uint128(mid), ask);
    }

    /// The source's bid kept between the band's low end and mid, its ask between mid and the high end.
    function _clip(uint128 low, uint128 mid, uint128 high) private view returns (uint128 bid, uint128 ask) {
        (bid, ask) = IPriceSource(source).getBidAndAsk();
        bid = bid < low ? low : bid > mid ? mid : bid;
        ask = ask > high ? high : ask < mid ? mid : ask;
    }
}
