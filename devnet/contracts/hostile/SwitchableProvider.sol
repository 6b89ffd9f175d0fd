// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {IPriceProvider} from "../interfaces/IPriceProvider.sol";
import {Switchable} from "./Switchable.sol";

/// A price provider of both generations, and an extension that takes every hook.
contract SwitchableProvider is IPriceProvider, Switchable {
    address public immutable token0;
    address public immutable token1;
    uint128 private immutable BID_X64;
    uint128 private immutable ASK_X64;

    constructor(address token0_, address token1_, uint128 bid, uint128 ask) {
        (token0, token1) = (token0_, token1_);
        (BID_X64, ASK_X64) = (bid, ask);
    }

    function getBidAndAskPrice() external returns (uint128, uint128) {
        _betray();
        return _lies() ? (type(uint128).max - 1, type(uint128).max) : (BID_X64, ASK_X64);
    }

    /// Asked by packed pools, for a reference as well.
    function getQuote() external returns (uint128, uint128, uint128) {
        _betray();
        uint128 most = type(uint128).max;
        return _lies() ? (most - 2, most, most - 1) : (BID_X64, ASK_X64, (BID_X64 + ASK_X64) / 2);
    }

    /// Hooks of an extension.
    fallback() external {
        _betray();
        if (_lies()) revert();
    }
}
