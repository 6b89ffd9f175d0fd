// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {ExtensionBase} from "./ExtensionBase.sol";

/// Settings of the stop loss per pool. A change is proposed by the pool's admin and takes effect after the timelock.
abstract contract StopLossSettings is ExtensionBase {
    struct Config {
        uint32 drawdownE6;
        /// Part of a watermark that is lost per second, of `_decayScale`.
        uint64 decayPerSecond;
        /// Seconds.
        uint40 timelock;
        bool initialized;
    }

    struct Proposal {
        uint64 value;
        uint256 executeAfter;
    }

    event OracleStopLossDrawdownSet(address indexed pool, uint256 newMaxDrawdownE6);
    event OracleStopLossDecaySet(address indexed pool, uint256 newDecayPerSecond);
    event OracleStopLossTimelockSet(address indexed pool, uint256 newTimelock);
    event OracleStopLossDrawdownProposed(address indexed pool, uint256 value, uint256 executeAfter);
    event OracleStopLossDecayProposed(address indexed pool, uint256 value, uint256 executeAfter);
    event OracleStopLossTimelockProposed(address indexed pool, uint256 value, uint256 executeAfter);
    event OracleStopLossDrawdownCancelled(address indexed pool);
    event OracleStopLossDecayCancelled(address indexed pool);
    event OracleStopLossTimelockCancelled(address indexed pool);

    error InvalidDrawdown();
    error InvalidDecay();
    error InvalidTimelock();
    error NotInitialized();
    error NothingPending();
    error TimelockNotOver(uint256 executeAfter);

    uint256 internal immutable _decayScale;
    uint256 private immutable _longestTimelock;

    mapping(address => Config) internal _configs;
    mapping(address => Proposal) public pendingDrawdown;
    mapping(address => Proposal) public pendingDecay;
    mapping(address => Proposal) public pendingTimelock;

    constructor(uint256 decayScale, uint256 longestTimelock) {
        _decayScale = decayScale;
        _longestTimelock = longestTimelock;
    }

    function proposeDrawdown(address pool, uint32 drawdownE6) external onlyPoolAdmin(pool) {
        _check(drawdownE6, 0, 0);
        emit OracleStopLossDrawdownProposed(pool, drawdownE6, _propose(pendingDrawdown, pool, drawdownE6));
    }

    function proposeDecay(address pool, uint64 decayPerSecond) external onlyPoolAdmin(pool) {
        _check(0, decayPerSecond, 0);
        emit OracleStopLossDecayProposed(pool, decayPerSecond, _propose(pendingDecay, pool, decayPerSecond));
    }

    function proposeTimelock(address pool, uint40 timelock) external onlyPoolAdmin(pool) {
        _check(0, 0, timelock);
        emit OracleStopLossTimelockProposed(pool, timelock, _propose(pendingTimelock, pool, timelock));
    }

    function executeDrawdown(address pool) external onlyPoolAdmin(pool) {
        uint32 value = uint32(_execute(pendingDrawdown, pool));
        _configs[pool].drawdownE6 = value;
        emit OracleStopLossDrawdownSet(pool, value);
    }

    function executeDecay(address pool) external onlyPoolAdmin(pool) {
        uint64 value = _execute(pendingDecay, pool);
        _configs[pool].decayPerSecond = value;
        emit OracleStopLossDecaySet(pool, value);
    }

    function executeTimelock(address pool) external onlyPoolAdmin(pool) {
        uint40 value = uint40(_execute(pendingTimelock, pool));
        _configs[pool].timelock = value;
        emit OracleStopLossTimelockSet(pool, value);
    }

    function cancelDrawdown(address pool) external onlyPoolAdmin(pool) {
        _cancel(pendingDrawdown, pool);
        emit OracleStopLossDrawdownCancelled(pool);
    }

    function cancelDecay(address pool) external onlyPoolAdmin(pool) {
        _cancel(pendingDecay, pool);
        emit OracleStopLossDecayCancelled(pool);
    }

    function cancelTimelock(address pool) external onlyPoolAdmin(pool) {
        _cancel(pendingTimelock, pool);
        emit OracleStopLossTimelockCancelled(pool);
    }

    function _initialize(address pool, bytes calldata data) internal override {
        (uint32 drawdownE6, uint64 decayPerSecond, uint40 timelock) = abi.decode(data, (uint32, uint64, uint40));
        _check(drawdownE6, decayPerSecond, timelock);
        _configs[pool] = Config(drawdownE6, decayPerSecond, timelock, true);
        emit OracleStopLossDrawdownSet(pool, drawdownE6);
        emit OracleStopLossDecaySet(pool, decayPerSecond);
        emit OracleStopLossTimelockSet(pool, timelock);
    }

    function _check(uint256 drawdownE6, uint256 decayPerSecond, uint256 timelock) private view {
        if (drawdownE6 > 1e6) revert InvalidDrawdown();
        if (decayPerSecond > _decayScale) revert InvalidDecay();
        if (timelock > _longestTimelock) revert InvalidTimelock();
    }

    function _propose(mapping(address => Proposal) storage pending, address pool, uint64 value)
        private
        returns (uint256 executeAfter)
    {
        Config memory config = _configs[pool];
        if (!config.initialized) revert NotInitialized();
        executeAfter = block.timestamp + config.timelock;
        pending[pool] = Proposal(value, executeAfter);
    }

    function _execute(mapping(address => Proposal) storage pending, address pool) private returns (uint64 value) {
        Proposal memory proposal = pending[pool];
        if (proposal.executeAfter == 0) revert NothingPending();
        if (block.timestamp < proposal.executeAfter) revert TimelockNotOver(proposal.executeAfter);
        delete pending[pool];
        return proposal.value;
    }

    function _cancel(mapping(address => Proposal) storage pending, address pool) private {
        if (pending[pool].executeAfter == 0) revert NothingPending();
        delete pending[pool];
    }
}
