// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {IERC20} from "../interfaces/IERC20.sol";

library SafeTransfer {
    error TransferFailed(address token);

    function pay(address token, address to, uint256 amount) internal {
        if (amount == 0) return;
        if (!IERC20(token).transfer(to, amount)) revert TransferFailed(token);
    }

    function pull(address token, address from, address to, uint256 amount) internal {
        if (amount == 0) return;
        if (!IERC20(token).transferFrom(from, to, amount)) revert TransferFailed(token);
    }
}
