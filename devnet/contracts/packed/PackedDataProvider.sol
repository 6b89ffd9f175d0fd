// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {PoolImmutables} from "../interfaces/PoolTypes.sol";
import {IPool} from "../interfaces/IPool.sol";

/// The lens of the packed generation: bins in raw units, against which a reader holds its own decoding of storage.
contract PackedDataProvider {
    function binStates(IPool pool, int16[] calldata binIdxs)
        external
        view
        returns (
            uint104[] memory token0Balances,
            uint104[] memory token1Balances,
            uint16[] memory lengthsE6,
            uint16[] memory addFeeBuysE6,
            uint16[] memory addFeeSellsE6,
            uint104[] memory totalShares
        )
    {
        PoolImmutables memory fixedPart = pool.getImmutables();
        token0Balances = new uint104[](binIdxs.length);
        token1Balances = new uint104[](binIdxs.length);
        lengthsE6 = new uint16[](binIdxs.length);
        addFeeBuysE6 = new uint16[](binIdxs.length);
        addFeeSellsE6 = new uint16[](binIdxs.length);
        totalShares = new uint104[](binIdxs.length);
        for (uint256 i = 0; i < binIdxs.length; i++) {
            uint256 word = uint256(pool.extsload(_slot(binIdxs[i], 4)));
            token0Balances[i] = uint104(uint104(word) / fixedPart.token0ScaleMultiplier);
            token1Balances[i] = uint104(uint104(word >> 104) / fixedPart.token1ScaleMultiplier);
            lengthsE6[i] = uint16(word >> 208);
            addFeeBuysE6[i] = uint16(word >> 224);
            addFeeSellsE6[i] = uint16(word >> 240);
            totalShares[i] = uint104(uint256(pool.extsload(_slot(binIdxs[i], 5))));
        }
    }

    function _slot(int256 bin, uint256 mappingSlot) private pure returns (bytes32) {
        return keccak256(abi.encode(bin, mappingSlot));
    }
}
