// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {PoolImmutables, PoolStart} from "./interfaces/PoolTypes.sol";
import {PoolAdministration} from "./pool/PoolAdministration.sol";
import {PoolHead} from "./pool/PoolHead.sol";
import {PoolLiquidity} from "./pool/PoolLiquidity.sol";
import {PoolState} from "./pool/PoolState.sol";
import {PoolSwaps} from "./pool/PoolSwaps.sol";

/// Oracle-anchored pool of bins, flat layout.
contract Pool is PoolSwaps, PoolLiquidity, PoolAdministration {
    constructor(PoolImmutables memory fixedPart, PoolStart memory start) PoolHead(start) PoolState(fixedPart, start) {}
}
