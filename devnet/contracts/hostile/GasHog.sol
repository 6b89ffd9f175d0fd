// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

/// Burns gas whatever it is asked, as a token or an extension: all that it is given, or what it says that it needs, and then
/// has no objection.
contract GasHog {
    uint256 private immutable NEEDED;

    /// @param needed gas; zero: all of it
    constructor(uint256 needed) {
        NEEDED = needed;
    }

    fallback() external {
        uint256 begin = gasleft();
        while (NEEDED == 0 || begin - gasleft() < NEEDED) {}
    }
}
