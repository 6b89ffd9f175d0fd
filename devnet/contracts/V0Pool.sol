// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {IERC20} from "./interfaces/IERC20.sol";

/// A pool of the oldest generation, by what it logs: it moves any amounts, whatever their price.
contract V0Pool {
    event Swap(
        address sender,
        address recipient,
        bool exactInput,
        int128 amount0Delta,
        int128 amount1Delta,
        int16 newTick,
        uint104 newPositionInBin
    );

    IERC20 private immutable TOKEN0;
    IERC20 private immutable TOKEN1;

    constructor(IERC20 token0, IERC20 token1) {
        (TOKEN0, TOKEN1) = (token0, token1);
    }

    /// Takes positive amounts from the sender, and pays negative ones to the recipient.
    function swap(address recipient, bool exactInput, int128 amount0Delta, int128 amount1Delta) external {
        _move(TOKEN0, recipient, amount0Delta);
        _move(TOKEN1, recipient, amount1Delta);
        emit Swap(msg.sender, recipient, exactInput, amount0Delta, amount1Delta, -1, 7);
    }

    function _move(IERC20 token, address recipient, int128 delta) private {
        if (delta > 0) token.transferFrom(msg.sender, address(this), uint128(delta));
        if (delta < 0) token.transfer(recipient, uint128(-delta));
    }
}

/// A factory of the oldest generation.
contract V0PoolFactory {
    event PoolCreated(
        address indexed token0, address indexed token1, address indexed priceProvider, address pool, bytes32 salt
    );

    function createPool(IERC20 token0, IERC20 token1, address priceProvider, bytes32 salt) external {
        address pool = address(new V0Pool{salt: salt}(token0, token1));
        emit PoolCreated(address(token0), address(token1), priceProvider, pool, salt);
    }
}
