// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.37;

/// A token that answers `symbol()` and `name()` with any bytes whatever: given none it burns all gas, given a single one
/// it answers ten megabytes. Its decimals may cost more than anyone but a factory pays.
contract HostileToken {
    uint256 private constant MUCH = 10_000_000;

    uint256 private immutable DECIMALS;
    uint256 private immutable DECIMALS_GAS;
    bytes private _symbol;
    bytes private _name;

    constructor(bytes memory symbolAnswer, bytes memory nameAnswer, uint256 decimals_, uint256 decimalsGas) {
        (DECIMALS, DECIMALS_GAS) = (decimals_, decimalsGas);
        _symbol = symbolAnswer;
        _name = nameAnswer;
    }

    function decimals() external view returns (uint256) {
        uint256 begin = gasleft();
        while (begin - gasleft() < DECIMALS_GAS) {}
        return DECIMALS;
    }

    function symbol() external view {
        _answer(_symbol);
    }

    function name() external view {
        _answer(_name);
    }

    function balanceOf(address) external pure returns (uint256) {
        return 0;
    }

    function _answer(bytes memory answer) private pure {
        uint256 length = answer.length == 1 ? MUCH : answer.length;
        while (length == 0) {}
        assembly {
            return(add(answer, 32), length)
        }
    }
}
