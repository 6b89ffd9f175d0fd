// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

/// Shows how much of an untrusted token can leave a pool and come back whole. The contract is never deployed: an
/// eth_call puts its code at ACCOUNT, and code that delegates to it at the addresses of pools. A pool then sends to
/// ACCOUNT, which sends back; every attempt is undone.
///
/// The answer is three amounts: what was tried, which is the requested amount or less where the pool has less, the most
/// of it that left whole, and the most that came back whole. A token that takes a part of what it moves counts as
/// moving nothing.
contract TransferProof {
    address private constant ACCOUNT = 0x7A4E5fe47A4E5Fe47a4e5FE47A4e5fE47a4E5fe4;
    /// Gas of one attempt, and of a call of the token in it.
    uint256 private constant ATTEMPT_GAS = 1_000_000;
    uint256 private constant TOKEN_GAS = 450_000;
    uint256 private constant BALANCE_GAS = 200_000;
    uint256 private constant ATTEMPTS = 20;

    /// What an attempt shows, as bits.
    uint256 private constant LEFT = 1;
    uint256 private constant CAME_BACK = 2;
    uint256 private constant TAXED_OUT = 4;
    uint256 private constant TAXED_BACK = 8;

    function prove(address token, uint256 most) external returns (uint256 amount, uint256 left, uint256 back) {
        (bool isKnown, uint256 balance) = _balance(token, address(this));
        amount = isKnown && balance < most ? balance : most;
        if (amount == 0) return (0, 0, 0);
        uint256 whole = _attempt(token, amount);
        if (whole & TAXED_OUT != 0) return (amount, 0, 0);
        if (whole & LEFT != 0) left = amount;
        if (whole & CAME_BACK != 0) return (amount, amount, amount);
        if (whole & TAXED_BACK != 0) return (amount, left, 0);
        (left, back) = _search(token, amount, left);
    }

    /// Searches the largest amounts that pass, between one unit and an amount that did not pass.
    function _search(address token, uint256 high, uint256 left) private returns (uint256, uint256 back) {
        uint256 low = 1;
        uint256 least = _attempt(token, low);
        // What fails for one unit fails for every amount.
        uint256 wanted = least & CAME_BACK != 0 ? CAME_BACK : LEFT;
        if (least & wanted == 0) return (left, 0);
        if (left == 0) left = 1;
        if (wanted == CAME_BACK) back = 1;
        else if (left > 1) return (left, 0);
        for (uint256 count = 2; count < ATTEMPTS && high - low > 1 && gasleft() > ATTEMPT_GAS * 2; count++) {
            uint256 middle = _middle(low, high);
            uint256 shown = _attempt(token, middle);
            if (shown & TAXED_OUT != 0) return (0, 0);
            if (shown & TAXED_BACK != 0) return (left, 0);
            if (shown & LEFT != 0 && middle > left) left = middle;
            if (shown & CAME_BACK != 0) back = middle;
            if (shown & wanted != 0) low = middle;
            else high = middle;
        }
        return (left, back);
    }

    /// The geometric middle while the ends are far apart, else the arithmetic one.
    function _middle(uint256 low, uint256 high) private pure returns (uint256 middle) {
        if (high / low < 4) return low + (high - low) / 2;
        middle = low;
        // Doubles the lower end as often as its square stays within the product of the ends.
        for (uint256 ratio = high / low; ratio > 3; ratio >>= 2) middle <<= 1;
    }

    function _attempt(address token, uint256 amount) private returns (uint256 shown) {
        bytes memory data = abi.encodeCall(this.attempt, (token, amount));
        address self = address(this);
        assembly ("memory-safe") {
            mstore(0, 0)
            pop(call(ATTEMPT_GAS, self, 0, add(data, 32), mload(data), 0, 32))
            if eq(returndatasize(), 32) { shown := mload(0) }
        }
    }

    /// Makes one attempt and reverts with what it shows, which undoes it.
    function attempt(address token, uint256 amount) external {
        uint256 shown = _shown(token, amount);
        assembly ("memory-safe") {
            mstore(0, shown)
            revert(0, 32)
        }
    }

    function _shown(address token, uint256 amount) private returns (uint256) {
        (bool isKnown, uint256 there) = _balance(token, ACCOUNT);
        if (!isKnown || !_transfer(token, ACCOUNT, amount)) return 0;
        if (!_has(token, ACCOUNT, there, amount)) return TAXED_OUT;
        uint256 here;
        (isKnown, here) = _balance(token, address(this));
        if (!isKnown) return LEFT;
        try TransferProof(ACCOUNT).give{gas: TOKEN_GAS}(token, amount) returns (bool isGiven) {
            if (!isGiven) return LEFT;
        } catch {
            return LEFT;
        }
        return _has(token, address(this), here, amount) ? LEFT | CAME_BACK : LEFT | TAXED_BACK;
    }

    function give(address token, uint256 amount) external returns (bool) {
        return _transfer(token, msg.sender, amount);
    }

    function _has(address token, address account, uint256 before, uint256 amount) private returns (bool) {
        (bool isKnown, uint256 balance) = _balance(token, account);
        return isKnown && balance >= before && balance - before >= amount;
    }

    function _balance(address token, address account) private returns (bool isKnown, uint256 held) {
        bytes memory data = abi.encodeWithSignature("balanceOf(address)", account);
        assembly ("memory-safe") {
            isKnown := call(BALANCE_GAS, token, 0, add(data, 32), mload(data), 0, 32)
            isKnown := and(isKnown, gt(returndatasize(), 31))
            held := mload(0)
        }
    }

    /// Transfers as pools do: a return of nothing or of true is a success.
    function _transfer(address token, address to, uint256 amount) private returns (bool isDone) {
        bytes memory data = abi.encodeWithSignature("transfer(address,uint256)", to, amount);
        assembly ("memory-safe") {
            mstore(0, 1)
            isDone := call(TOKEN_GAS, token, 0, add(data, 32), mload(data), 0, 32)
            isDone := and(isDone, and(eq(mload(0), 1), or(iszero(returndatasize()), gt(returndatasize(), 31))))
        }
    }
}
