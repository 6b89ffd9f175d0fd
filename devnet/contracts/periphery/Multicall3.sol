// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

/// Batches calls. Same interface as the contract that most chains have at 0xcA11bde05977b3631167028862bE2a173976CA11;
/// no immutables, so that its code can be put at that address.
contract Multicall3 {
    struct Call {
        address target;
        bytes callData;
    }

    struct Call3 {
        address target;
        bool allowFailure;
        bytes callData;
    }

    struct Call3Value {
        address target;
        bool allowFailure;
        uint256 value;
        bytes callData;
    }

    struct Result {
        bool success;
        bytes returnData;
    }

    function aggregate(Call[] calldata calls) external payable returns (uint256 blockNumber, bytes[] memory returnData) {
        blockNumber = block.number;
        returnData = new bytes[](calls.length);
        for (uint256 i = 0; i < calls.length; i++) {
            returnData[i] = _call(calls[i].target, 0, calls[i].callData, false).returnData;
        }
    }

    function tryAggregate(bool requireSuccess, Call[] calldata calls)
        public
        payable
        returns (Result[] memory results)
    {
        results = new Result[](calls.length);
        for (uint256 i = 0; i < calls.length; i++) {
            results[i] = _call(calls[i].target, 0, calls[i].callData, !requireSuccess);
        }
    }

    function tryBlockAndAggregate(bool requireSuccess, Call[] calldata calls)
        public
        payable
        returns (uint256 blockNumber, bytes32 blockHash, Result[] memory results)
    {
        return (block.number, blockhash(block.number), tryAggregate(requireSuccess, calls));
    }

    function blockAndAggregate(Call[] calldata calls)
        external
        payable
        returns (uint256 blockNumber, bytes32 blockHash, Result[] memory results)
    {
        return tryBlockAndAggregate(true, calls);
    }

    function aggregate3(Call3[] calldata calls) external payable returns (Result[] memory results) {
        results = new Result[](calls.length);
        for (uint256 i = 0; i < calls.length; i++) {
            results[i] = _call(calls[i].target, 0, calls[i].callData, calls[i].allowFailure);
        }
    }

    function aggregate3Value(Call3Value[] calldata calls) external payable returns (Result[] memory results) {
        results = new Result[](calls.length);
        uint256 spent;
        for (uint256 i = 0; i < calls.length; i++) {
            spent += calls[i].value;
            results[i] = _call(calls[i].target, calls[i].value, calls[i].callData, calls[i].allowFailure);
        }
        require(msg.value == spent, "Multicall3: value mismatch");
    }

    function getBlockNumber() external view returns (uint256 blockNumber) {
        return block.number;
    }

    function getBlockHash(uint256 blockNumber) external view returns (bytes32 blockHash) {
        return blockhash(blockNumber);
    }

    function getLastBlockHash() external view returns (bytes32 blockHash) {
        return blockhash(block.number - 1);
    }

    function getCurrentBlockTimestamp() external view returns (uint256 timestamp) {
        return block.timestamp;
    }

    function getCurrentBlockGasLimit() external view returns (uint256 gaslimit) {
        return block.gaslimit;
    }

    function getCurrentBlockCoinbase() external view returns (address coinbase) {
        return block.coinbase;
    }

    function getEthBalance(address account) external view returns (uint256 balance) {
        return account.balance;
    }

    function getBasefee() external view returns (uint256 basefee) {
        return block.basefee;
    }

    function getChainId() external view returns (uint256 chainid) {
        return block.chainid;
    }

    function _call(address target, uint256 value, bytes calldata data, bool allowFailure)
        private
        returns (Result memory result)
    {
        (result.success, result.returnData) = target.call{value: value}(data);
        require(allowFailure || result.success, "Multicall3: call failed");
    }
}
