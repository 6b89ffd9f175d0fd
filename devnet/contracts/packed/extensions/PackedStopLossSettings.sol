// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {ExtensionBase} from "../../extensions/ExtensionBase.sol";

/// Settings of the stop loss per pool. A change is proposed by the pool's admin and takes effect after the timelock.
abstract contract PackedStopLossSettings is ExtensionBase {
    struct Config {
        uint32 drawdownE6;
        uint64 decayPerSecondE18;
        /// Seconds.
        uint40 timelock;
        bool initialized;
    }

    struct Proposal {
        uint256 value;
        uint40 executeAfter;
    }

    event OracleStopLossDrawdownSet(address indexed pool, uint256 newMaxDrawdownE6);
    event OracleStopLossDecaySet(address indexed pool, uint256 newDecayPerSecondE18);
    event OracleStopLossTimelockSet(address indexed pool, uint256 newTimelock);
    event OracleStopLossDrawdownProposed(address indexed pool, uint256 value, uint256 executeAfter);
    event OracleStopLossDecayProposed(address indexed pool, uint256 value, uint256 executeAfter);
    event OracleStopLossTimelockProposed(address indexed pool, uint256 value, uint256 executeAfter);
    event OracleStopLossDrawdownCancelled(address indexed pool);
    event OracleStopLossDecayCancelled(address indexed pool);
    event OracleStopLossTimelockCancelled(address indexed pool);

    error OracleStopLossDrawdownTooLarge(uint256 requested);
    error OracleStopLossDecayTooLarge(uint256 requested);
    error OracleStopLossNotInitialized(address pool);
    error OracleStopLossNothingPending(address pool);
    error OracleStopLossTimelockNotElapsed(uint256 executeAfter, uint256 currentTime);
    error OracleStopLossTimelockOverflow(uint256 executeAfter);

    mapping(address => Config) public oracleStopLossConfig;
    mapping(address => Proposal) public pendingDrawdown;
    mapping(address => Proposal) public pendingDecay;
    mapping(address => Proposal) public pendingTimelock;

    function proposeOracleStopLossDrawdown(address pool, uint256 drawdownE6) external onlyPoolAdmin(pool) {
        _check(drawdownE6, 0);
        emit OracleStopLossDrawdownProposed(pool, drawdownE6, _propose(pendingDrawdown, pool, drawdownE6));
    }

    function proposeOracleStopLossDecay(address pool, uint256 decayPerSecondE18) external onlyPoolAdmin(pool) {
        _check(0, decayPerSecondE18);
        emit OracleStopLossDecayProposed(pool, decayPerSecondE18, _propose(pendingDecay, pool, decayPerSecondE18));
    }

    function proposeOracleStopLossTimelock(address pool, uint40 timelock) external onlyPoolAdmin(pool) {
        emit OracleStopLossTimelockProposed(pool, timelock, _propose(pendingTimelock, pool, timelock));
    }

    function executeOracleStopLossDrawdown(address pool) external onlyPoolAdmin(pool) {
        uint32 value = uint32(_execute(pendingDrawdown, pool));
        oracleStopLossConfig[pool].drawdownE6 = value;
        emit OracleStopLossDrawdownSet(pool, value);
    }

    function executeOracleStopLossDecay(address pool) external onlyPoolAdmin(pool) {
        uint64 value = uint64(_execute(pendingDecay, pool));
        oracleStopLossConfig[pool].decayPerSecondE18 = value;
        emit OracleStopLossDecaySet(pool, value);
    }

    function executeOracleStopLossTimelock(address pool) external onlyPoolAdmin(pool) {
        uint40 value = uint40(_execute(pendingTimelock, pool));
        oracleStopLossConfig[pool].timelock = value;
        emit OracleStopLossTimelockSet(pool, value);
    }

    function cancelOracleStopLossDrawdown(address pool) external onlyPoolAdmin(pool) {
        _cancel(pendingDrawdown, pool);
        emit OracleStopLossDrawdownCancelled(pool);
    }

    function cancelOracleStopLossDecay(address pool) external onlyPoolAdmin(pool) {
        _cancel(pendingDecay, pool);
        emit OracleStopLossDecayCancelled(pool);
    }

    function cancelOracleStopLossTimelock(address pool) external onlyPoolAdmin(pool) {
        _cancel(pendingTimelock, pool);
        emit OracleStopLossTimelockCancelled(pool);
    }

    function _initialize(address pool, bytes calldata data) internal override {
        (uint32 drawdownE6, uint64 decayPerSecondE18, uint40 timelock) = abi.decode(data, (uint32, uint64, uint40));
        _check(drawdownE6, decayPerSecondE18);
        oracleStopLossConfig[pool] = Config(drawdownE6, decayPerSecondE18, timelock, true);
        emit OracleStopLossDrawdownSet(pool, drawdownE6);
        emit OracleStopLossDecaySet(pool, decayPerSecondE18);
        emit OracleStopLossTimelockSet(pool, timelock);
    }

    function _check(uint256 drawdownE6, uint256 decayPerSecondE18) private pure {
        if (drawdownE6 > 1e6) revert OracleStopLossDrawdownTooLarge(drawdownE6);
        if (decayPerSecondE18 > 1e18) revert OracleStopLossDecayTooLarge(decayPerSecondE18);
    }

    function _propose(mapping(address => Proposal) storage pending, address pool, uint256 value)
        private
        returns (uint256 executeAfter)
    {
        Config memory config = oracleStopLossConfig[pool];
        if (!config.initialized) revert OracleStopLossNotInitialized(pool);
        executeAfter = block.timestamp + config.timelock;
        if (executeAfter > type(uint40).max) revert OracleStopLossTimelockOverflow(executeAfter);
        pending[pool] = Proposal(value, uint40(executeAfter));
    }

    function _execute(mapping(address => Proposal) storage pending, address pool) private returns (uint256 value) {
        Proposal memory proposal = pending[pool];
        if (proposal.executeAfter == 0) revert OracleStopLossNothingPending(pool);
        if (block.timestamp < proposal.executeAfter) {
            revert OracleStopLossTimelockNotElapsed(proposal.executeAfter, block.timestamp);
        }
        delete pending[pool];
        return proposal.value;
    }

    function _cancel(mapping(address => Proposal) storage pending, address pool) private {
        if (pending[pool].executeAfter == 0) revert OracleStopLossNothingPending(pool);
        delete pending[pool];
    }
}
