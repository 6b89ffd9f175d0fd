// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

/// Finds, inside one eth_call, how far the guards of pools let sides trade: it asks the pools by simulated swaps and halves
/// the doubt with every answer. Nobody deploys it: its creation code runs with the jobs behind it, and what the
/// constructor returns is the answer. Places on a side are counted in steps, STEPS to a bin.
contract GuardSearch {
    struct Job {
        address pool;
        /// Calldata of a simulated swap, and where in it the amount stands.
        bytes probe;
        uint256 amountOffset;
        /// Cumulative input through the end of each bin that trades, raw units, 16 bytes each.
        bytes edges;
        /// What a simulation may cost: below this much gas none is begun.
        uint256 gas;
        /// A simulation that burns this much is refused.
        uint256 gasLimit;
        /// What is known from an earlier call.
        Found known;
    }

    /// It trades at `low`, and it does not at `high`; `high` is unset until the whole side was asked about.
    struct Found {
        uint256 low;
        uint256 high;
        bool done;
        /// The last simulation burned almost all that it may.
        bool burned;
    }

    uint256 private constant STEPS = 1e6;
    uint256 private constant UNASKED = type(uint256).max;
    /// A simulation that took more of the gas it had than this part may have ended for a lack of it, somewhere inside:
    /// a 64th is kept back at each of up to eight frames.
    uint256 private constant SUSPECT_EIGHTHS = 7;
    /// For what follows the last probe: encoding the answer, and the price of returning it as code.
    uint256 private constant RESERVE = 2e6;

    constructor(bytes4 simulated, Job[] memory jobs) {
        Found[] memory found = new Found[](jobs.length);
        for (uint256 i = 0; i < jobs.length; i++) {
            found[i] = jobs[i].known;
            while (!found[i].done && _ask(simulated, jobs[i], found[i])) {}
        }
        bytes memory answer = abi.encode(block.chainid, found);
        assembly ("memory-safe") {
            return(add(answer, 32), mload(answer))
        }
    }

    /// Asks one question and narrows the doubt. False when the gas left does not tell: another call goes on.
    function _ask(bytes4 simulated, Job memory job, Found memory found) private returns (bool) {
        uint256 step = _nextStep(found, job.edges.length / 16 * STEPS);
        if (gasleft() < job.gas + RESERVE) return false;
        uint256 given = (gasleft() - RESERVE) * 63 / 64;
        if (given > job.gasLimit) given = job.gasLimit;
        uint256 before = gasleft();
        (bool trades, bool told) = _simulate(simulated, job, _amountAt(job.edges, step), given);
        bool burned = !told || (before - gasleft()) * 8 > given * SUSPECT_EIGHTHS;
        if (burned && given < job.gasLimit) return false;
        if (trades) found.low = step;
        else found.high = step;
        found.burned = burned;
        found.done = _isDone(job.edges, found, trades);
        return true;
    }

    /// The whole side; then the first bin; then ends of bins, halving; then the least part of the bin in doubt; then halves.
    function _nextStep(Found memory found, uint256 end) private pure returns (uint256) {
        (uint256 low, uint256 high) = (found.low, found.high);
        if (high == UNASKED) return end;
        uint256 width = high - low;
        if (width > STEPS) {
            uint256 bins = width / STEPS;
            return low + (low == 0 && high == end ? 1 : bins / 2) * STEPS;
        }
        return width == STEPS ? low + 1 : low + width / 2;
    }

    function _isDone(bytes memory edges, Found memory found, bool trades) private pure returns (bool) {
        if (found.high == UNASKED) return trades;
        if (found.high - found.low <= 1) return true;
        bool isOneBin = found.high - found.low < STEPS;
        return isOneBin && _amountAt(edges, found.high) <= _amountAt(edges, found.low) + 1;
    }

    /// At an end of a bin one unit less than its input, so that rounding never touches the next bin; at least one unit.
    function _amountAt(bytes memory edges, uint256 step) private pure returns (uint256 amount) {
        uint256 bin = step / STEPS;
        uint256 part = step % STEPS;
        uint256 before = bin == 0 ? 0 : _edge(edges, bin - 1);
        if (part == 0) amount = before == 0 ? 0 : before - 1;
        else amount = before + (_edge(edges, bin) - before) * part / STEPS;
        if (amount == 0) amount = 1;
    }

    function _edge(bytes memory edges, uint256 index) private pure returns (uint256 edge) {
        assembly ("memory-safe") {
            edge := shr(128, mload(add(add(edges, 32), mul(index, 16))))
        }
    }

    /// The simulation always reverts; `told` is false when it did so without a word, as when its gas ran out.
    function _simulate(bytes4 simulated, Job memory job, uint256 amount, uint256 given)
        private
        returns (bool trades, bool told)
    {
        bytes memory probe = job.probe;
        uint256 offset = job.amountOffset;
        address pool = job.pool;
        assembly ("memory-safe") {
            mstore(add(add(probe, 32), offset), amount)
            let succeeded := call(given, pool, 0, add(probe, 32), mload(probe), 0, 32)
            told := gt(returndatasize(), 3)
            let word := and(mload(0), shl(224, 0xffffffff))
            trades := and(and(told, iszero(succeeded)), eq(word, simulated))
        }
    }
}
