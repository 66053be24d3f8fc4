// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// @notice The code of an inbox: Solady's PUSH0 clone, without the three bytes that the hub's address begins with. Each
/// byte less saves 200 gas whenever an inbox is created.
library Clone {
    /// @dev The number of zero bytes that the hub's address begins with. The salt of its deployment is mined for them.
    uint256 internal constant ZERO_BYTES = 3;

    uint256 private constant CREATION_BYTES = 51;

    error HubMisplaced(address hub);
    error CreationFailed();

    /// @return head The first 32 bytes of the creation code.
    /// @return tail The other 19 bytes, left-aligned.
    function creationCodeOf(address hub) internal pure returns (bytes32 head, bytes32 tail) {
        uint256 short = uint160(hub);
        if (short >> (160 - 8 * ZERO_BYTES) != 0) revert HubMisplaced(hub);
        // 18 bytes of code, 17 bytes of address and 16 bytes of code.
        head = bytes32(uint256(uint144(0x602a5f8160095f39f35f5f365f5f37365f70)) << 112 | short >> 24);
        tail = bytes32((short & 0xffffff) << 232 | uint256(uint128(0x5af43d5f5f3e6026573d5ffd5b3d5ff3)) << 104);
    }

    function creationCodeHash(bytes32 head, bytes32 tail) internal pure returns (bytes32 hash) {
        assembly ("memory-safe") {
            mstore(0x00, head)
            mstore(0x20, tail)
            hash := keccak256(0x00, CREATION_BYTES)
        }
    }

    /// @dev It can fail only for lack of gas: an address without code is free, because no account can own it otherwise.
    function create(bytes32 head, bytes32 tail, bytes32 salt) internal {
        address created;
        assembly ("memory-safe") {
            mstore(0x00, head)
            mstore(0x20, tail)
            created := create2(0, 0x00, CREATION_BYTES, salt)
        }
        if (created == address(0)) revert CreationFailed();
    }
}
