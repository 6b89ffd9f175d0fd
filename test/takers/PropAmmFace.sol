// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

interface IToken {
    function transfer(address to, uint256 amount) external returns (bool);
}

interface IPool {
    function swap(address recipient, bool zeroForOne, int128 amount, uint128 limit, bytes calldata, bytes calldata)
        external
        returns (int128 amount0Delta, int128 amount1Delta);
}

/// A router of one pool with the standard face of proprietary AMMs: its caller pushes the input before a swap.
contract PropAmmFace {
    struct TokenPair {
        address token0;
        address token1;
    }

    IPool private immutable POOL;
    address private immutable TOKEN0;
    address private immutable TOKEN1;

    error Quote(int256 amount0Delta, int256 amount1Delta);

    constructor(IPool pool, address token0, address token1) {
        (POOL, TOKEN0, TOKEN1) = (pool, token0, token1);
    }

    function getPairs() external view returns (TokenPair[] memory pairs) {
        pairs = new TokenPair[](1);
        pairs[0] = TokenPair(TOKEN0, TOKEN1);
    }

    /// Not a view because the swap runs, up to its callback.
    function quote(address tokenIn, address tokenOut, uint256 amountIn) external returns (uint256) {
        bool zeroForOne = _direction(tokenIn, tokenOut);
        try POOL.swap(address(this), zeroForOne, int128(int256(amountIn)), _limit(zeroForOne), hex"01", "") {
            revert();
        } catch (bytes memory reason) {
            require(reason.length == 68 && bytes4(reason) == Quote.selector, "inactive");
            int256 amount0Delta;
            int256 amount1Delta;
            assembly ("memory-safe") {
                amount0Delta := mload(add(reason, 36))
                amount1Delta := mload(add(reason, 68))
            }
            return uint256(-(zeroForOne ? amount1Delta : amount0Delta));
        }
    }

    function swap(
        address tokenIn,
        address tokenOut,
        uint256 amountIn,
        uint256 minAmountOut,
        address recipient,
        uint256 deadline
    ) external returns (uint256 amountOut) {
        require(block.timestamp <= deadline, "late");
        bool zeroForOne = _direction(tokenIn, tokenOut);
        (int128 amount0Delta, int128 amount1Delta) =
            POOL.swap(recipient, zeroForOne, int128(int256(amountIn)), _limit(zeroForOne), "", "");
        amountOut = uint256(int256(-(zeroForOne ? amount1Delta : amount0Delta)));
        require(amountOut >= minAmountOut, "too little");
    }

    function metricOmmSwapCallback(int256 amount0Delta, int256 amount1Delta, bytes calldata data) external {
        require(msg.sender == address(POOL), "not the pool");
        if (data.length > 0) revert Quote(amount0Delta, amount1Delta);
        if (amount0Delta > 0) IToken(TOKEN0).transfer(msg.sender, uint256(amount0Delta));
        if (amount1Delta > 0) IToken(TOKEN1).transfer(msg.sender, uint256(amount1Delta));
    }

    function _direction(address tokenIn, address tokenOut) private view returns (bool zeroForOne) {
        zeroForOne = tokenIn == TOKEN0;
        require(tokenOut == (zeroForOne ? TOKEN1 : TOKEN0) && (zeroForOne || tokenIn == TOKEN1), "no pair");
    }

    function _limit(bool zeroForOne) private pure returns (uint128) {
        return zeroForOne ? 0 : type(uint128).max;
    }
}
