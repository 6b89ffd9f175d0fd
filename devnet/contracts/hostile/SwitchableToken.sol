// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {Switchable} from "./Switchable.sol";

/// A token that gives its name as any bytes at all. Everyone has more of it each time they are asked for a deposit.
contract SwitchableToken is Switchable {
    bytes private title;
    uint256 private immutable DECIMALS;

    constructor(bytes memory title_, uint256 decimals_) {
        title = title_;
        DECIMALS = decimals_;
    }

    function name() external returns (bytes memory) {
        _betray();
        return title;
    }

    function symbol() external returns (bytes memory) {
        _betray();
        return title;
    }

    function decimals() external returns (uint256) {
        _betray();
        return _lies() ? type(uint256).max : DECIMALS;
    }

    function balanceOf(address) external returns (uint256) {
        _betray();
        // The less gas is left, the more there is: every payment seems to have come.
        return _lies() ? type(uint256).max : (type(uint64).max - gasleft()) << 64;
    }

    function transfer(address, uint256) external returns (bool) {
        _betray();
        return !_lies();
    }

    function transferFrom(address, address, uint256) external returns (bool) {
        _betray();
        return !_lies();
    }

    function approve(address, uint256) external returns (bool) {
        _betray();
        return true;
    }
}
