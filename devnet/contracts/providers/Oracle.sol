// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {IPool} from "../interfaces/IPool.sol";
import {IPoolFactory} from "../interfaces/IPoolFactory.sol";
import {IOracle} from "../interfaces/IPriceProvider.sol";

/// USD prices by feed. It answers only a registered provider which a pool of the factory is reading in the same call.
contract Oracle is IOracle {
    struct Feed {
        uint128 priceX64;
        uint64 spreadE18;
        /// Zero: the publisher posts in every block. Otherwise the time of the last post.
        uint64 stoppedAt;
    }

    event FeedUpdated(bytes32 indexed feedId, uint128 priceX64, uint64 spreadE18, uint64 stoppedAt);

    error OnlyOwner();
    error NotRegistered(bytes32 feedId, address provider);
    error NotInSwap();
    error UnknownFeed(bytes32 feedId);

    address public immutable owner;
    IPoolFactory public immutable factory;
    mapping(bytes32 => Feed) public feeds;
    mapping(bytes32 => mapping(address => bool)) public registered;
    mapping(address => bool) public registrars;

    modifier onlyOwner() {
        if (msg.sender != owner) revert OnlyOwner();
        _;
    }

    constructor(address factory_) {
        owner = msg.sender;
        factory = IPoolFactory(factory_);
    }

    function setRegistrar(address registrar, bool allowed) external onlyOwner {
        registrars[registrar] = allowed;
    }

    function register(bytes32 feedId, address provider) external {
        if (msg.sender != owner && !registrars[msg.sender]) revert OnlyOwner();
        registered[feedId][provider] = true;
    }

    /// Posts a price that stays fresh.
    function post(bytes32 feedId, uint128 priceX64, uint64 spreadE18) external onlyOwner {
        _set(feedId, Feed(priceX64, spreadE18, 0));
    }

    /// Ends the posts: the feed keeps its price and grows stale from now on.
    function stop(bytes32 feedId) external onlyOwner {
        Feed memory feed = feeds[feedId];
        _set(feedId, Feed(feed.priceX64, feed.spreadE18, uint64(block.timestamp)));
    }

    /// Posts that there is no valid price.
    function takeDown(bytes32 feedId) external onlyOwner {
        _set(feedId, Feed(0, 1, 0));
    }

    function read(bytes32 feedId, address pool) external view returns (uint128, uint64, uint64) {
        if (!registered[feedId][msg.sender]) revert NotRegistered(feedId, msg.sender);
        if (!factory.isPool(pool) || IPool(pool).inSwap() != msg.sender) revert NotInSwap();
        Feed memory feed = feeds[feedId];
        if (feed.priceX64 == 0 && feed.spreadE18 == 0) revert UnknownFeed(feedId);
        return (feed.priceX64, feed.spreadE18, feed.stoppedAt == 0 ? uint64(block.timestamp) : feed.stoppedAt);
    }

    function _set(bytes32 feedId, Feed memory feed) private {
        feeds[feedId] = feed;
        emit FeedUpdated(feedId, feed.priceX64, feed.spreadE18, feed.stoppedAt);
    }
}
