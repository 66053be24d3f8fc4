// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// @notice The bytes of a CCTP message, version 2, by their offsets: a head of 148 bytes, then the burn's body.
library Message {
    uint256 internal constant SOURCE = 4;
    uint256 internal constant DESTINATION = 8;
    uint256 internal constant NONCE = 12;
    uint256 internal constant SENDER = 44;
    uint256 internal constant RECIPIENT = 76;
    uint256 internal constant DESTINATION_CALLER = 108;
    uint256 internal constant THRESHOLD_MIN = 140;
    uint256 internal constant THRESHOLD_EXECUTED = 144;
    uint256 internal constant BODY = 148;

    uint256 internal constant BURN_TOKEN = 4;
    uint256 internal constant MINT_RECIPIENT = 36;
    uint256 internal constant AMOUNT = 68;
    uint256 internal constant MESSAGE_SENDER = 100;
    uint256 internal constant FEE_MAX = 132;
    uint256 internal constant FEE_EXECUTED = 164;
    uint256 internal constant EXPIRATION_BLOCK = 196;
    uint256 internal constant BODY_BYTES = 228;

    function number(bytes memory message, uint256 at) internal pure returns (uint32) {
        return uint32(uint256(word(message, at)) >> 224);
    }

    function word(bytes memory message, uint256 at) internal pure returns (bytes32 value) {
        assembly {
            value := mload(add(add(message, 0x20), at))
        }
    }

    function setWord(bytes memory message, uint256 at, bytes32 value) internal pure {
        assembly {
            mstore(add(add(message, 0x20), at), value)
        }
    }

    function setNumber(bytes memory message, uint256 at, uint32 value) internal pure {
        uint256 rest = uint256(word(message, at)) & type(uint224).max;
        setWord(message, at, bytes32(uint256(value) << 224 | rest));
    }

    function body(bytes memory message) internal pure returns (bytes memory part) {
        part = new bytes(message.length - BODY);
        assembly {
            mcopy(add(part, 0x20), add(add(message, 0x20), BODY), mload(part))
        }
    }
}
