// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

/// Honest until someone turns it: from then on it answers every question but a few with its worst.
abstract contract Switchable {
    /// In the order of `WAYS` in test/chaos/attacker.ts.
    enum Way {
        Honest,
        BurnGas,
        HugeRevert,
        HugeAnswer,
        NoAnswer,
        Panic,
        Lie,
        Waver,
        Reenter
    }

    /// Memory of this size costs about 1.3 million gas.
    uint256 private constant HUGE = 800_000;

    Way public way;

    function turn(Way next) external {
        way = next;
    }

    /// Returns only when it is honest, or when the lie is the caller's to tell.
    function _betray() internal {
        Way current = way;
        if (current == Way.BurnGas) while (true) {}
        if (current == Way.HugeRevert) _leave(true, HUGE);
        if (current == Way.HugeAnswer) _leave(false, HUGE);
        if (current == Way.NoAnswer) _leave(false, 0);
        if (current == Way.Panic) assert(false);
        if (current == Way.Reenter) _reenter();
    }

    /// Lies always, or depending on the gas: two readings of one block differ.
    function _lies() internal view returns (bool) {
        return way == Way.Lie || (way == Way.Waver && gasleft() % 2 == 0);
    }

    function _leave(bool reverts, uint256 size) private pure {
        assembly ("memory-safe") {
            if reverts { revert(0, size) }
            return(0, size)
        }
    }

    /// Asks its caller for prices, whose answer asks this again, and so on until the gas is gone.
    function _reenter() private {
        (bool success,) = msg.sender.call(abi.encodeWithSignature("getSellAndBuyPrices()"));
        assert(success);
    }
}
