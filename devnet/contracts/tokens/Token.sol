// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {TokenBase} from "./TokenBase.sol";

contract Token is TokenBase {
    string public name;
    string public symbol;

    constructor(string memory name_, string memory symbol_, uint8 decimals_) TokenBase(decimals_) {
        name = name_;
        symbol = symbol_;
    }
}
