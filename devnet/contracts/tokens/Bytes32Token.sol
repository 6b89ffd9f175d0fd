// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {TokenBase} from "./TokenBase.sol";

/// A token of the early days: name and symbol are words, not strings.
contract Bytes32Token is TokenBase {
    bytes32 public immutable name;
    bytes32 public immutable symbol;

    constructor(bytes32 name_, bytes32 symbol_, uint8 decimals_) TokenBase(decimals_) {
        name = name_;
        symbol = symbol_;
    }
}
