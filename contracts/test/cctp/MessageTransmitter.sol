// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Message} from "./Message.sol";

interface IMessageHandler {
    function handleReceiveFinalizedMessage(uint32 domain, bytes32 sender, uint32 threshold, bytes calldata body)
        external
        returns (bool);
    function handleReceiveUnfinalizedMessage(uint32 domain, bytes32 sender, uint32 threshold, bytes calldata body)
        external
        returns (bool);
}

/// @notice Behaves as Circle's MessageTransmitterV2 with one attester: the same bytes, the same refusals, the same words.
contract MessageTransmitter {
    using Message for bytes;

    uint32 private constant VERSION = 1;
    uint32 private constant FINALIZED = 2_000;

    uint32 public immutable localDomain;
    address public immutable attester;
    mapping(bytes32 nonce => uint256 used) public usedNonces;
    bool public paused;

    event MessageSent(bytes message);
    event MessageReceived(
        address indexed caller,
        uint32 sourceDomain,
        bytes32 indexed nonce,
        bytes32 sender,
        uint32 indexed finalityThresholdExecuted,
        bytes messageBody
    );

    constructor(uint32 localDomain_, address attester_) {
        localDomain = localDomain_;
        attester = attester_;
    }

    modifier whenNotPaused() {
        require(!paused, "Pausable: paused");
        _;
    }

    function pause() external {
        paused = true;
    }

    function unpause() external {
        paused = false;
    }

    /// @dev The nonce, the executed threshold, the fee and the expiration are left empty: the attester fills them in.
    function sendMessage(uint32 domain, bytes32 recipient, bytes32 caller, uint32 thresholdMin, bytes calldata body)
        external
        whenNotPaused
    {
        require(domain != localDomain, "Domain is local domain");
        require(recipient != 0, "Recipient must be nonzero");
        bytes32 sender = bytes32(uint256(uint160(msg.sender)));
        bytes memory head = abi.encodePacked(VERSION, localDomain, domain, bytes32(0), sender, recipient);
        emit MessageSent(abi.encodePacked(head, caller, thresholdMin, uint32(0), body));
    }

    function receiveMessage(bytes memory message, bytes memory attestation) external whenNotPaused returns (bool) {
        require(attestation.length == 65, "Invalid attestation length");
        require(signerOf(keccak256(message), attestation) == attester, "Invalid signature: not attester");
        require(message.length >= Message.BODY, "Invalid message: too short");
        require(message.number(Message.DESTINATION) == localDomain, "Invalid destination domain");
        bytes32 caller = message.word(Message.DESTINATION_CALLER);
        require(caller == 0 || caller == bytes32(uint256(uint160(msg.sender))), "Invalid caller for message");
        require(message.number(0) == VERSION, "Invalid message version");
        bytes32 nonce = message.word(Message.NONCE);
        require(usedNonces[nonce] == 0, "Nonce already used");
        usedNonces[nonce] = 1;
        handle(message);
        uint32 threshold = message.number(Message.THRESHOLD_EXECUTED);
        bytes32 sender = message.word(Message.SENDER);
        emit MessageReceived(msg.sender, message.number(Message.SOURCE), nonce, sender, threshold, message.body());
        return true;
    }

    function handle(bytes memory message) private {
        IMessageHandler handler = IMessageHandler(address(uint160(uint256(message.word(Message.RECIPIENT)))));
        uint32 domain = message.number(Message.SOURCE);
        bytes32 sender = message.word(Message.SENDER);
        uint32 threshold = message.number(Message.THRESHOLD_EXECUTED);
        if (threshold < FINALIZED) {
            bool handled = handler.handleReceiveUnfinalizedMessage(domain, sender, threshold, message.body());
            require(handled, "handleReceiveUnfinalizedMessage() failed");
        } else {
            bool handled = handler.handleReceiveFinalizedMessage(domain, sender, threshold, message.body());
            require(handled, "handleReceiveFinalizedMessage() failed");
        }
    }

    function signerOf(bytes32 digest, bytes memory signature) private pure returns (address) {
        (bytes32 r, bytes32 s) = (signature.word(0), signature.word(32));
        return ecrecover(digest, uint8(signature[64]), r, s);
    }
}
