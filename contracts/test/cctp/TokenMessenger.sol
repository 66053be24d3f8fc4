// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {FiatToken} from "../FiatToken.sol";
import {Message} from "./Message.sol";
import {IMessageHandler, MessageTransmitter} from "./MessageTransmitter.sol";
import {TokenMinter} from "./TokenMinter.sol";

/// @notice Behaves as Circle's TokenMessengerV2.
contract TokenMessenger is IMessageHandler {
    using Message for bytes;

    uint32 private constant BODY_VERSION = 1;
    uint32 private constant THRESHOLD_MIN = 500;

    MessageTransmitter public immutable localMessageTransmitter;
    TokenMinter public immutable localMinter;
    address public immutable feeRecipient;
    mapping(uint32 domain => bytes32 messenger) public remoteTokenMessengers;
    mapping(address account => bool denied) public denylisted;
    /// @dev What Circle may ask at least for a burn, in tens of millions, and asks for nothing as a rule.
    uint256 public minFee;

    event DepositForBurn(
        address indexed burnToken,
        uint256 amount,
        address indexed depositor,
        bytes32 mintRecipient,
        uint32 destinationDomain,
        bytes32 destinationTokenMessenger,
        bytes32 destinationCaller,
        uint256 maxFee,
        uint32 indexed minFinalityThreshold,
        bytes hookData
    );

    constructor(MessageTransmitter transmitter, TokenMinter minter, address feeRecipient_) {
        localMessageTransmitter = transmitter;
        localMinter = minter;
        feeRecipient = feeRecipient_;
    }

    function addRemoteTokenMessenger(uint32 domain, bytes32 messenger) external {
        remoteTokenMessengers[domain] = messenger;
    }

    function setMinFee(uint256 minFee_) external {
        minFee = minFee_;
    }

    function denylist(address account) external {
        denylisted[account] = true;
    }

    function unDenylist(address account) external {
        denylisted[account] = false;
    }

    function depositForBurn(
        uint256 amount,
        uint32 destinationDomain,
        bytes32 mintRecipient,
        address burnToken,
        bytes32 destinationCaller,
        uint256 maxFee,
        uint32 minFinalityThreshold
    ) external {
        require(!denylisted[msg.sender] && !denylisted[tx.origin], "Denylistable: account is on denylist");
        require(amount > 0, "Amount must be nonzero");
        require(mintRecipient != 0, "Mint recipient must be nonzero");
        require(maxFee < amount, "Max fee must be less than amount");
        require(maxFee >= minFeeOf(amount), "Insufficient max fee");
        bytes32 remote = remoteTokenMessengers[destinationDomain];
        require(remote != 0, "No TokenMessenger for domain");
        bool moved = FiatToken(burnToken).transferFrom(msg.sender, address(localMinter), amount);
        require(moved, "Transfer operation failed");
        localMinter.burn(burnToken, amount);
        bytes memory body = abi.encodePacked(
            BODY_VERSION,
            bytes32(uint256(uint160(burnToken))),
            mintRecipient,
            amount,
            bytes32(uint256(uint160(msg.sender))),
            maxFee,
            uint256(0),
            uint256(0)
        );
        localMessageTransmitter.sendMessage(destinationDomain, remote, destinationCaller, minFinalityThreshold, body);
        emit DepositForBurn(
            burnToken,
            amount,
            msg.sender,
            mintRecipient,
            destinationDomain,
            remote,
            destinationCaller,
            maxFee,
            minFinalityThreshold,
            ""
        );
    }

    /// @dev At least one unit, at any finality.
    function minFeeOf(uint256 amount) private view returns (uint256 fee) {
        if (minFee == 0) return 0;
        fee = amount * minFee / 10_000_000;
        if (fee == 0) fee = 1;
    }

    function handleReceiveFinalizedMessage(uint32 domain, bytes32 sender, uint32, bytes memory body)
        external
        returns (bool)
    {
        requireRemote(domain, sender);
        requireFormat(body);
        mint(domain, body, 0);
        return true;
    }

    function handleReceiveUnfinalizedMessage(uint32 domain, bytes32 sender, uint32 threshold, bytes memory body)
        external
        returns (bool)
    {
        requireRemote(domain, sender);
        require(threshold >= THRESHOLD_MIN, "Unsupported finality threshold");
        requireFormat(body);
        uint256 expiration = uint256(body.word(Message.EXPIRATION_BLOCK));
        require(expiration == 0 || expiration > block.number, "Message expired and must be re-signed");
        uint256 fee = uint256(body.word(Message.FEE_EXECUTED));
        require(fee == 0 || fee < uint256(body.word(Message.AMOUNT)), "Fee equals or exceeds amount");
        require(fee <= uint256(body.word(Message.FEE_MAX)), "Fee exceeds max fee");
        mint(domain, body, fee);
        return true;
    }

    function requireRemote(uint32 domain, bytes32 sender) private view {
        require(msg.sender == address(localMessageTransmitter), "Invalid message transmitter");
        require(sender != 0 && remoteTokenMessengers[domain] == sender, "Remote TokenMessenger unsupported");
    }

    function requireFormat(bytes memory body) private pure {
        require(body.length >= Message.BODY_BYTES, "Invalid message: too short");
        require(body.number(0) == BODY_VERSION, "Invalid message body version");
    }

    function mint(uint32 domain, bytes memory body, uint256 fee) private {
        bytes32 token = body.word(Message.BURN_TOKEN);
        address to = address(uint160(uint256(body.word(Message.MINT_RECIPIENT))));
        localMinter.mint(domain, token, to, uint256(body.word(Message.AMOUNT)) - fee);
        if (fee > 0) localMinter.mint(domain, token, feeRecipient, fee);
    }
}
