// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

/// Burns all the gas it is given, whatever it is asked: as a token or an extension.
contract GasHog {
    fallback() external {
        while (true) {}
    }
}
