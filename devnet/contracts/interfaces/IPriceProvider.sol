// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

interface IPriceProvider {
    function token0() external view returns (address);

    function token1() external view returns (address);

    /// Bid and ask, token1 per token0 in whole tokens, Q64.64.
    function getBidAndAskPrice() external returns (uint128 bidPriceX64, uint128 askPriceX64);
}

interface IOracle {
    /// Price in USD per whole unit (Q64.64), half-spread (fraction, E18) and time of a feed, for a provider called by `pool`.
    function read(bytes32 feedId, address pool)
        external
        view
        returns (uint128 priceX64, uint64 spreadE18, uint64 timestamp);

    function register(bytes32 feedId, address provider) external;
}

interface IPriceSource {
    function getBidAndAsk() external view returns (uint128 bidPriceX64, uint128 askPriceX64);
}
