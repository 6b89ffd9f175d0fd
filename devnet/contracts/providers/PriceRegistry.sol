// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

/// Prices by feed, as their makers last wrote them. Feed `id` starts at slot keccak256(id, 0): whoever knows a price knows
/// the words that it writes.
contract PriceRegistry {
    struct Feed {
        /// First word: the time of the block that the price is for, Unix seconds.
        uint256 stamp;
        /// Second word, lower half. Token1 per token0 in whole tokens, Q64.64, as the ask.
        uint128 bidX64;
        /// Second word, upper half.
        uint128 askX64;
        /// Third word. The one account that may update the feed.
        address maker;
    }

    error FeedTaken(bytes32 feedId);
    error OnlyMaker();

    mapping(bytes32 => Feed) public feeds;

    /// Makes the caller the maker of a feed that has none.
    function register(bytes32 feedId) external {
        Feed storage feed = feeds[feedId];
        if (feed.maker != address(0)) revert FeedTaken(feedId);
        feed.maker = msg.sender;
    }

    /// Any stamp is stored: an update that lands in another block than its own changes the words but quotes nothing.
    function update(bytes32 feedId, uint256 stamp, uint128 bidX64, uint128 askX64) external {
        Feed storage feed = feeds[feedId];
        if (feed.maker != msg.sender) revert OnlyMaker();
        feed.stamp = stamp;
        (feed.bidX64, feed.askX64) = (bidX64, askX64);
    }
}
