// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {SwapContext, SwapOutcome} from "../interfaces/PoolTypes.sol";
import {ExtensionBase} from "../extensions/ExtensionBase.sol";

/// An extension that nobody knows: it rejects larger swaps, by the amount that their sender specifies, raw units.
contract SwapCap is ExtensionBase {
    uint256 private immutable MAX_INPUT;
    uint256 private immutable MAX_OUTPUT;

    error TooLargeForMe(uint256 most);

    constructor(address factory_, uint256 maxInput, uint256 maxOutput) ExtensionBase(factory_) {
        MAX_INPUT = maxInput;
        MAX_OUTPUT = maxOutput;
    }

    function afterSwap(SwapContext calldata context, SwapOutcome calldata outcome, bytes calldata)
        external
        view
        override
    {
        (int256 a, int256 b) = (outcome.amount0Delta, outcome.amount1Delta);
        (int256 input, int256 output) = a > 0 ? (a, -b) : (b, -a);
        if (context.amountSpecified > 0 && uint256(input) > MAX_INPUT) revert TooLargeForMe(MAX_INPUT);
        if (context.amountSpecified < 0 && uint256(output) > MAX_OUTPUT) revert TooLargeForMe(MAX_OUTPUT);
    }

    function _initialize(address pool, bytes calldata data) internal override {}
}
