// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {SwapContext} from "../../interfaces/PoolTypes.sol";
import {ExtensionBase} from "../../extensions/ExtensionBase.sol";
import {FullMath} from "../../libraries/FullMath.sol";

/// Refuses swaps whose reference is too far from the last one of an earlier block: no swap widens the room of another
/// in its block. A maximum of zero switches the guard off.
contract PackedVelocityGuard is ExtensionBase {
    struct State {
        uint128 anchorMidPriceX64;
        uint128 lastObservedMidPriceX64;
        /// Where the anchor was seen.
        uint64 anchorBlock;
        uint64 lastObservedBlock;
        uint64 maxChangePerBlockE18;
    }

    event MaxChangePerBlockSet(address indexed pool, uint64 newMaxPctChangePerBlockE18);
    event AnchorMidPriceUpdated(address indexed pool, uint128 newAnchorMidPriceX64);

    error PriceVelocityExceeded(uint256 actualDeltaSqE36, uint256 allowedDeltaSqE36);

    uint256 private constant E18 = 1e18;

    mapping(address => State) public priceVelocityState;

    constructor(address factory_) ExtensionBase(factory_) {}

    function setMaxChangePerBlock(address pool, uint64 maxChangePerBlockE18) external onlyPoolAdmin(pool) {
        _setMaxChange(pool, maxChangePerBlockE18);
    }

    function setAnchorMidPrice(address pool, uint128 newAnchorMidPriceX64) external onlyPoolAdmin(pool) {
        State storage state = priceVelocityState[pool];
        (state.anchorMidPriceX64, state.lastObservedMidPriceX64) = (newAnchorMidPriceX64, newAnchorMidPriceX64);
        (state.anchorBlock, state.lastObservedBlock) = (uint64(block.number), uint64(block.number));
        emit AnchorMidPriceUpdated(pool, newAnchorMidPriceX64);
    }

    function beforeSwap(SwapContext calldata context, bytes calldata) external override {
        State storage state = priceVelocityState[msg.sender];
        uint64 current = uint64(block.number);
        if (state.anchorMidPriceX64 == 0) {
            (state.anchorMidPriceX64, state.anchorBlock) = (context.referencePriceX64, current);
        } else {
            if (state.lastObservedBlock < current) {
                state.anchorMidPriceX64 = state.lastObservedMidPriceX64;
                state.anchorBlock = state.lastObservedBlock;
            }
            _check(state, context.referencePriceX64);
        }
        (state.lastObservedMidPriceX64, state.lastObservedBlock) = (context.referencePriceX64, current);
    }

    function _initialize(address pool, bytes calldata data) internal override {
        _setMaxChange(pool, abi.decode(data, (uint64)));
    }

    function _setMaxChange(address pool, uint64 maxChangePerBlockE18) private {
        priceVelocityState[pool].maxChangePerBlockE18 = maxChangePerBlockE18;
        emit MaxChangePerBlockSet(pool, maxChangePerBlockE18);
    }

    function _check(State storage state, uint256 mid) private view {
        uint256 most = state.maxChangePerBlockE18;
        if (most == 0) return;
        uint256 anchor = state.anchorMidPriceX64;
        uint256 delta = FullMath.mulDivFloor(mid > anchor ? mid - anchor : anchor - mid, E18, anchor);
        uint256 allowedSq = most ** 2 * (1 + block.number - state.anchorBlock);
        if (delta * delta > allowedSq) revert PriceVelocityExceeded(delta * delta, allowedSq);
    }
}
