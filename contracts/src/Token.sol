// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// @notice Balance and transfer of a token, or of the native coin when the token is 0. These functions never revert
/// and copy at most one word of a token's result, so one odd token cannot break a batch. They clear the upper bits of
/// addresses, because assembly elsewhere may leave them dirty.
library Token {
    uint256 private constant BALANCE_OF = 0x70a08231;
    uint256 private constant TRANSFER = 0xa9059cbb;

    /// @return readable False when the token is not a contract, reverts, returns less than a word or needs more gas
    /// than `gasLimit`.
    function balanceOf(address token, address holder, uint256 gasLimit)
        internal
        view
        returns (bool readable, uint256 units)
    {
        if (token == address(0)) return (true, holder.balance);
        assembly ("memory-safe") {
            mstore(0x00, shl(224, BALANCE_OF))
            mstore(0x04, shr(96, shl(96, holder)))
            let success := staticcall(gasLimit, token, 0x00, 0x24, 0x00, 0x20)
            readable := and(success, gt(returndatasize(), 0x1f))
            units := mul(readable, mload(0x00))
        }
    }

    /// @dev A transfer succeeds when the call succeeds and returns true, or returns nothing and the token is a
    /// contract: several widespread tokens return no value.
    function tryTransfer(address token, address to, uint256 units, uint256 gasLimit) internal returns (bool moved) {
        if (token == address(0)) {
            assembly ("memory-safe") {
                moved := call(gasLimit, to, units, 0x00, 0x00, 0x00, 0x00)
            }
            return moved;
        }
        assembly ("memory-safe") {
            let buffer := mload(0x40)
            mstore(buffer, shl(224, TRANSFER))
            mstore(add(buffer, 0x04), shr(96, shl(96, to)))
            mstore(add(buffer, 0x24), units)
            moved := call(gasLimit, token, 0, buffer, 0x44, 0x00, 0x20)
            switch returndatasize()
            case 0 { moved := and(moved, iszero(iszero(extcodesize(token)))) }
            default { moved := and(moved, and(gt(returndatasize(), 0x1f), eq(mload(0x00), 1))) }
        }
    }
}
