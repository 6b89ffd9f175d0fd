// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {IPriceProvider} from "../interfaces/IPriceProvider.sol";
import {IERC20} from "../interfaces/IERC20.sol";

/// Quotes like any other, but first attacks the other calls of the same request: sends a pool tokens, so that its
/// balance changes, and burns the gas down to what its own answer takes.
contract HostileProvider is IPriceProvider {
    address public immutable token0;
    address public immutable token1;
    uint128 private immutable BID_X64;
    uint128 private immutable ASK_X64;
    uint256 private immutable GAS_LEFT;
    address private immutable VICTIM;

    constructor(address token0_, address token1_, uint128 bid, uint128 ask, uint256 gasLeft, address victim) {
        (token0, token1) = (token0_, token1_);
        (BID_X64, ASK_X64) = (bid, ask);
        (GAS_LEFT, VICTIM) = (gasLeft, victim);
    }

    function getBidAndAskPrice() external returns (uint128, uint128) {
        uint256 held = IERC20(token0).balanceOf(address(this));
        if (held > 0) IERC20(token0).transfer(VICTIM, held);
        while (gasleft() > GAS_LEFT) {}
        return (BID_X64, ASK_X64);
    }
}
