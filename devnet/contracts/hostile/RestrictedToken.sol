// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

import {TokenBase} from "../tokens/TokenBase.sol";

/// A token that restricts how it moves. With a period it goes on to the next way by itself, after that number of blocks.
contract RestrictedToken is TokenBase {
    /// In the order of `WAYS` in test/quotes/transfers.test.ts.
    enum Way {
        Free,
        Paused,
        Blocked,
        NotToPool,
        NotFromPool,
        Taxed,
        Limited,
        Refusing,
        BurnsGas,
        HugeAnswer
    }

    error Restricted();

    string public constant name = "Restricted";
    string public constant symbol = "RSTR";
    /// One part in a hundred.
    uint256 private constant TAX = 100;
    uint256 private constant HUGE = 3_000_000;

    Way private _way;
    uint256 public period;
    address public pool;
    uint256 public limit;

    constructor(uint8 decimals_) TokenBase(decimals_) {}

    function way() public view returns (Way) {
        return period == 0 ? _way : Way((block.number / period) % (uint256(type(Way).max) + 1));
    }

    function turn(Way next, address pool_, uint256 limit_) external {
        (_way, pool, limit, period) = (next, pool_, limit_, 0);
    }

    function turnEvery(uint256 blocks, address pool_, uint256 limit_) external {
        (period, pool, limit) = (blocks, pool_, limit_);
    }

    /// Takes from anyone.
    function seize(address from, uint256 amount) external {
        balanceOf[from] -= amount;
        totalSupply -= amount;
    }

    function _move(address from, address to, uint256 amount) internal override returns (bool) {
        Way now_ = way();
        bool isSale = from == pool;
        bool isPurchase = to == pool;
        if (now_ == Way.Refusing) return false;
        if (now_ == Way.BurnsGas) while (true) {}
        if (now_ == Way.HugeAnswer) {
            assembly {
                revert(0, HUGE)
            }
        }
        if (now_ == Way.Paused || (now_ == Way.Blocked && (isSale || isPurchase))) revert Restricted();
        if ((now_ == Way.NotToPool && isPurchase) || (now_ == Way.NotFromPool && isSale)) revert Restricted();
        if (now_ == Way.Limited && amount > limit) revert Restricted();
        if (now_ == Way.Taxed) {
            uint256 tax = (amount + TAX - 1) / TAX;
            balanceOf[from] -= tax;
            totalSupply -= tax;
            return super._move(from, to, amount - tax);
        }
        return super._move(from, to, amount);
    }
}
