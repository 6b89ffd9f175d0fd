// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {IPriceProvider, IPriceSource} from "../interfaces/IPriceProvider.sol";

/// Quotes whatever its owner last set, to anyone: a provider of no known factory, or a custom source of an anchored one.
contract ManualProvider is IPriceProvider, IPriceSource {
    error OnlyOwner();

    address public immutable token0;
    address public immutable token1;
    address public immutable owner;
    uint128 private bidX64;
    uint128 private askX64;

    constructor(address token0_, address token1_, uint128 bid, uint128 ask) {
        token0 = token0_;
        token1 = token1_;
        owner = msg.sender;
        (bidX64, askX64) = (bid, ask);
    }

    function setQuote(uint128 bid, uint128 ask) external {
        if (msg.sender != owner) revert OnlyOwner();
        (bidX64, askX64) = (bid, ask);
    }

    function getBidAndAskPrice() external view returns (uint128, uint128) {
        return (bidX64, askX64);
    }

    function getBidAndAsk() external view returns (uint128, uint128) {
        return (bidX64, askX64);
    }
}
