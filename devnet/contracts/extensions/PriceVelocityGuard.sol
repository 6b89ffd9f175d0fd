// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {SwapContext} from "../interfaces/PoolTypes.sol";
import {BinMath} from "../libraries/BinMath.sol";
import {FullMath} from "../libraries/FullMath.sol";
import {ExtensionBase} from "./ExtensionBase.sol";

/// Refuses swaps after the provider's mid moved faster than a random walk with the configured step per block.
contract PriceVelocityGuard is ExtensionBase {
    struct State {
        uint128 lastMidPriceX64;
        uint64 lastUpdateBlock;
        uint64 maxChangePerBlockE18;
    }

    event MaxChangePerBlockSet(address indexed pool, uint64 newMaxPctChangePerBlockE18);
    event LastMidPriceUpdated(address indexed pool, uint128 newLastMidPriceX64);

    error PriceVelocityExceeded(uint256 actualDeltaSqE36, uint256 allowedDeltaSqE36);

    uint256 private constant E18 = 1e18;

    mapping(address => State) public priceVelocityState;

    constructor(address factory_) ExtensionBase(factory_) {}

    function setMaxChangePerBlock(address pool, uint64 maxChangePerBlockE18) external onlyPoolAdmin(pool) {
        priceVelocityState[pool].maxChangePerBlockE18 = maxChangePerBlockE18;
        emit MaxChangePerBlockSet(pool, maxChangePerBlockE18);
    }

    function beforeSwap(SwapContext calldata context, bytes calldata) external override {
        State storage state = priceVelocityState[msg.sender];
        uint128 mid = FullMath.toUint128(BinMath.midPrice(context.bidPriceX64, context.askPriceX64));
        if (state.lastMidPriceX64 != 0) _check(state, mid);
        state.lastUpdateBlock = uint64(block.number);
        if (mid == state.lastMidPriceX64) return;
        state.lastMidPriceX64 = mid;
        emit LastMidPriceUpdated(msg.sender, mid);
    }

    function _initialize(address pool, bytes calldata data) internal override {
        uint64 maxChangePerBlockE18 = abi.decode(data, (uint64));
        priceVelocityState[pool].maxChangePerBlockE18 = maxChangePerBlockE18;
        emit MaxChangePerBlockSet(pool, maxChangePerBlockE18);
    }

    function _check(State storage state, uint256 mid) private view {
        uint256 last = state.lastMidPriceX64;
        uint256 delta = FullMath.mulDivFloor(mid > last ? mid - last : last - mid, E18, last);
        uint256 allowedSq = uint256(state.maxChangePerBlockE18) ** 2 * (1 + block.number - state.lastUpdateBlock);
        if (delta * delta > allowedSq) revert PriceVelocityExceeded(delta * delta, allowedSq);
    }
}
