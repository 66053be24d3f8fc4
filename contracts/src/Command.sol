// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {IMessageTransmitterV2} from "./ICctpV2.sol";
import {Inbox} from "./Inbox.sol";
import {Payment} from "./Payment.sol";
import {Terms} from "./Terms.sol";

/// @notice Calls inboxes, and an untrusted transmitter, without reverting when they do. It is written in assembly
/// because every settlement pays for its gas. A failure is the selector of the inbox's error; an inbox that ran out of
/// gas returns nothing, which is a failed payout too.
library Command {
    /// @dev The gas limit of a call outside a batch: everything that EIP-150 lets it have.
    uint256 internal constant ALL_GAS = type(uint256).max;

    /// @param terms Canonical terms: their words are passed on as they are.
    /// @return feePaid The fee, or 0 when its leg failed and the payout received everything.
    /// @return failure 0 when it paid.
    function distribute(address inbox, Terms memory terms, uint256 net, uint256 fee, uint256 gasLimit)
        internal
        returns (uint256 feePaid, bytes4 failure)
    {
        bytes4 selector = Inbox.distribute.selector;
        bool done;
        assembly ("memory-safe") {
            let buffer := mload(0x40)
            mstore(buffer, selector)
            mstore(add(buffer, 0x04), mload(add(terms, 0x40)))
            mstore(add(buffer, 0x24), mload(add(terms, 0x60)))
            mstore(add(buffer, 0x44), net)
            mstore(add(buffer, 0x64), mload(add(terms, 0x80)))
            mstore(add(buffer, 0x84), fee)
            mstore(0x00, 0)
            done := call(gasLimit, inbox, 0, buffer, 0xa4, 0x00, 0x20)
            feePaid := mload(0x00)
        }
        if (!done) return (0, _failureOf(feePaid));
    }

    /// @return failure 0 when it sent.
    function send(address inbox, address token, address to, uint256 units, uint256 gasLimit)
        internal
        returns (bytes4 failure)
    {
        bytes4 selector = Inbox.send.selector;
        uint256 answer;
        bool done;
        assembly ("memory-safe") {
            let buffer := mload(0x40)
            mstore(buffer, selector)
            mstore(add(buffer, 0x04), token)
            mstore(add(buffer, 0x24), to)
            mstore(add(buffer, 0x44), units)
            mstore(0x00, 0)
            done := call(gasLimit, inbox, 0, buffer, 0x64, 0x00, 0x20)
            answer := mload(0x00)
        }
        if (!done) return _failureOf(answer);
    }

    /// @dev The caller of the hub names the transmitter, so it may be any contract. The hub calls only its
    /// `receiveMessage`, which no inbox implements, and reads only one word of the result.
    function receiveMessage(address transmitter, bytes calldata message, bytes calldata attestation)
        internal
        returns (bool received)
    {
        bytes memory data = abi.encodeCall(IMessageTransmitterV2.receiveMessage, (message, attestation));
        assembly ("memory-safe") {
            mstore(0x00, 0)
            received := call(gas(), transmitter, 0, add(data, 0x20), mload(data), 0x00, 0x20)
            received := and(received, and(gt(returndatasize(), 0x1f), eq(mload(0x00), 1)))
        }
    }

    function _failureOf(uint256 answer) private pure returns (bytes4 failure) {
        failure = bytes4(bytes32(answer));
        if (failure == 0) failure = Payment.PayoutFailed.selector;
    }
}
