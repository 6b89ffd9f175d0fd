// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {ExtensionBase} from "./ExtensionBase.sol";

/// Settings of the stop loss per pool. A change is proposed by the pool's admin and takes effect after the timelock.
abstract contract StopLossSettings is ExtensionBase {
    struct Config {
        uint32 drawdownE6;
        uint32 decayPerSecondE8;
        uint32 timelock;
        bool initialized;
    }

    struct Proposal {
        uint32 value;
        uint256 executeAfter;
    }

    event OracleStopLossDrawdownSet(address indexed pool, uint256 newMaxDrawdownE6);
    event OracleStopLossDecaySet(address indexed pool, uint256 newDecayPerSecondE8);
    event OracleStopLossTimelockSet(address indexed pool, uint256 newTimelock);
    event OracleStopLossDrawdownProposed(address indexed pool, uint256 value, uint256 executeAfter);
    event OracleStopLossDecayProposed(address indexed pool, uint256 value, uint256 executeAfter);
    event OracleStopLossTimelockProposed(address indexed pool, uint256 value, uint256 executeAfter);
    event OracleStopLossDrawdownCancelled(address indexed pool);
    event OracleStopLossDecayCancelled(address indexed pool);
    event OracleStopLossTimelockCancelled(address indexed pool);

    error InvalidDrawdown();
    error NotInitialized();
    error NothingPending();
    error TimelockNotOver(uint256 executeAfter);

    mapping(address => Config) public oracleStopLossConfig;
    mapping(address => Proposal) public pendingDrawdown;
    mapping(address => Proposal) public pendingDecay;
    mapping(address => Proposal) public pendingTimelock;

    function proposeDrawdown(address pool, uint32 drawdownE6) external onlyPoolAdmin(pool) {
        if (drawdownE6 > 1e6) revert InvalidDrawdown();
        uint256 executeAfter = _propose(pendingDrawdown, pool, drawdownE6);
        emit OracleStopLossDrawdownProposed(pool, drawdownE6, executeAfter);
    }

    function proposeDecay(address pool, uint32 decayPerSecondE8) external onlyPoolAdmin(pool) {
        uint256 executeAfter = _propose(pendingDecay, pool, decayPerSecondE8);
        emit OracleStopLossDecayProposed(pool, decayPerSecondE8, executeAfter);
    }

    function proposeTimelock(address pool, uint32 timelock) external onlyPoolAdmin(pool) {
        uint256 executeAfter = _propose(pendingTimelock, pool, timelock);
        emit OracleStopLossTimelockProposed(pool, timelock, executeAfter);
    }

    function executeDrawdown(address pool) external onlyPoolAdmin(pool) {
        uint32 value = _execute(pendingDrawdown, pool);
        oracleStopLossConfig[pool].drawdownE6 = value;
        emit OracleStopLossDrawdownSet(pool, value);
    }

    function executeDecay(address pool) external onlyPoolAdmin(pool) {
        uint32 value = _execute(pendingDecay, pool);
        oracleStopLossConfig[pool].decayPerSecondE8 = value;
        emit OracleStopLossDecaySet(pool, value);
    }

    function executeTimelock(address pool) external onlyPoolAdmin(pool) {
        uint32 value = _execute(pendingTimelock, pool);
        oracleStopLossConfig[pool].timelock = value;
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
        (uint32 drawdownE6, uint32 decayPerSecondE8, uint32 timelock) = abi.decode(data, (uint32, uint32, uint32));
        if (drawdownE6 > 1e6) revert InvalidDrawdown();
        oracleStopLossConfig[pool] = Config(drawdownE6, decayPerSecondE8, timelock, true);
        emit OracleStopLossDrawdownSet(pool, drawdownE6);
        emit OracleStopLossDecaySet(pool, decayPerSecondE8);
        emit OracleStopLossTimelockSet(pool, timelock);
    }

    function _propose(mapping(address => Proposal) storage pending, address pool, uint32 value)
        private
        returns (uint256 executeAfter)
    {
        Config memory config = oracleStopLossConfig[pool];
        if (!config.initialized) revert NotInitialized();
        executeAfter = block.timestamp + config.timelock;
        pending[pool] = Proposal(value, executeAfter);
    }

    function _execute(mapping(address => Proposal) storage pending, address pool) private returns (uint32 value) {
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
