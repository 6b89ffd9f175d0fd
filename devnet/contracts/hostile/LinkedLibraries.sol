// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

library Decoy {
    function answer(uint256 asked) public pure returns (uint256) {
        return asked + 1;
    }
}

/// A library that runs another one.
library Chained {
    function answer(uint256 asked) public pure returns (uint256) {
        return Decoy.answer(asked) + 1;
    }
}

/// Runs linked libraries, by arguments that functions compute in between.
contract LinksLibraries {
    uint256[] private kept;

    function sum(uint256[] calldata asked) external returns (uint256 total) {
        for (uint256 index = 0; index < asked.length; index++) {
            total += Decoy.answer(_twice(asked[index])) + Chained.answer(_twice(total));
            kept.push(total);
        }
    }

    function _twice(uint256 value) private view returns (uint256) {
        return value > kept.length ? value / 2 : 2 * value;
    }
}
