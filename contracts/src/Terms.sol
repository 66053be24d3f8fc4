// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// @notice Everything that the address of an inbox commits to.
struct Terms {
    /// Unique to one intent: keccak256(abi.encode("tributary.inbox.v1", bytes32 deploymentId, string intentId)).
    bytes32 salt;
    /// The chain of the payout; 0 when the payout is not on an EVM chain.
    uint64 settleChainId;
    /// The payout token; 0 means the native coin.
    address settleToken;
    address payout;
    address feeRecipient;
    /// Basis points of the received amount.
    uint16 feeBps;
    /// The address that may rescue; 0 means none.
    address recovery;
    /// Unix time in seconds from which `recovery` may rescue everything.
    uint48 recoverAfter;
    /// Merkle root of the routes to the settle chain; 0 means none.
    bytes32 routesRoot;
}

/// @notice A permitted way for a deposit on another chain to reach the settle chain.
struct Route {
    uint64 chainId;
    address token;
    address adapter;
    uint256 minAmount;
    bytes config;
}

library TermsLib {
    uint256 internal constant ENCODED_BYTES = 9 * 32;

    /// @dev Calldata of a static struct is its ABI encoding, so it is hashed as received.
    function hash(Terms calldata terms) internal pure returns (bytes32 result) {
        assembly ("memory-safe") {
            let buffer := mload(0x40)
            calldatacopy(buffer, terms, ENCODED_BYTES)
            result := keccak256(buffer, ENCODED_BYTES)
        }
    }

    /// @dev The same for terms in memory, whose fields are whole words too.
    function hashInMemory(Terms memory terms) internal pure returns (bytes32 result) {
        assembly ("memory-safe") {
            result := keccak256(terms, ENCODED_BYTES)
        }
    }

    /// @dev Copies the words as received. The compiler's own copy would revert for dirty upper bits, and with it a
    /// batch.
    function copyTo(Terms calldata terms, Terms memory target) internal pure {
        assembly ("memory-safe") {
            calldatacopy(target, terms, ENCODED_BYTES)
        }
    }

    /// @dev Whether each word is in the range of its field. Terms with dirty upper bits hash to another address, and
    /// nothing is ever settled there.
    function isCanonical(Terms memory terms) internal pure returns (bool canonical) {
        assembly ("memory-safe") {
            let wide := or(or(mload(add(terms, 0x40)), mload(add(terms, 0x60))), mload(add(terms, 0x80)))
            wide := shr(160, or(wide, mload(add(terms, 0xc0))))
            wide := or(wide, shr(64, mload(add(terms, 0x20))))
            wide := or(wide, shr(16, mload(add(terms, 0xa0))))
            canonical := iszero(or(wide, shr(48, mload(add(terms, 0xe0)))))
        }
    }
}

library RouteLib {
    /// @dev Hashed twice, so that no inner node of the tree can be presented as a leaf.
    function leaf(Route calldata route) internal pure returns (bytes32) {
        bytes32 once =
            keccak256(abi.encode(route.chainId, route.token, route.adapter, route.minAmount, keccak256(route.config)));
        return keccak256(abi.encode(once));
    }
}
