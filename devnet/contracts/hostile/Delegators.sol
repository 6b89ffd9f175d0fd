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

/// Each calls a library that it links, and runs the code of whom it likes.
abstract contract Delegator {
    function answer(uint256 asked) external pure returns (uint256) {
        return Decoy.answer(asked);
    }

    function _run(address target, bytes calldata data) internal returns (bytes memory result) {
        (, result) = target.delegatecall(data);
    }
}

contract StoredDelegator is Delegator {
    address public target;

    function run(bytes calldata data) external returns (bytes memory) {
        return _run(target, data);
    }
}

contract AskedDelegator is Delegator {
    function run(address target, bytes calldata data) external returns (bytes memory) {
        return _run(target, data);
    }
}

contract ComputingDelegator is Delegator {
    function run(bytes calldata data) external returns (bytes memory) {
        return _run(address(uint160(address(Decoy)) + uint160(data.length)), data);
    }
}

/// Takes the library or another target, as it is stored.
contract ChoosingDelegator is Delegator {
    address public target;

    function run(bytes calldata data) external returns (bytes memory) {
        return _run(target == address(0) ? address(Decoy) : target, data);
    }
}

contract ImmutableDelegator is Delegator {
    address private immutable TARGET;

    constructor(address target) {
        TARGET = target;
    }

    function run(bytes calldata data) external returns (bytes memory) {
        return _run(TARGET, data);
    }
}

/// Jumps to a function of its storage.
contract JumpingDelegator is Delegator {
    function(bytes calldata) internal returns (bytes memory) private next;

    function choose(bool first) external {
        next = first ? _first : _second;
    }

    function run(bytes calldata data) external returns (bytes memory) {
        return next(data);
    }

    function _first(bytes calldata data) private returns (bytes memory) {
        return _run(address(Decoy), data);
    }

    function _second(bytes calldata data) private pure returns (bytes memory) {
        return data;
    }
}
