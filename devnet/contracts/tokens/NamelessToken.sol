// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {TokenBase} from "./TokenBase.sol";

/// A token that will not say what it is called.
contract NamelessToken is TokenBase {
    error NoName();

    constructor(uint8 decimals_) TokenBase(decimals_) {}

    function name() external pure returns (string memory) {
        revert NoName();
    }

    function symbol() external pure returns (string memory) {
        revert NoName();
    }
}
