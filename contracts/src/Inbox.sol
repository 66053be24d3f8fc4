// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Payment} from "./Payment.sol";
import {Token} from "./Token.sol";

/// @title Inbox
/// @notice The code behind every inbox. An inbox is a 45-byte clone that only the hub can command; it holds no terms,
/// because its address is the commitment to them and the hub checks it on every call.
contract Inbox {
    using Token for address;

    address private immutable HUB = msg.sender;

    error NotHub(address caller);

    receive() external payable {}

    modifier onlyHub() {
        if (msg.sender != HUB) revert NotHub(msg.sender);
        _;
    }

    /// @notice Pays payout and fee from this inbox.
    /// @return feePaid The fee, or 0 when its leg failed and the payout received everything.
    function pay(address token, address payout, uint256 net, address feeRecipient, uint256 fee)
        external
        onlyHub
        returns (uint256 feePaid)
    {
        return Payment.pay(token, payout, net, feeRecipient, fee);
    }

    /// @notice Moves units to one address: into the hub for a netted batch, or to where a rescue goes.
    function send(address token, address to, uint256 units) external onlyHub {
        if (!token.tryTransfer(to, units, gasleft())) revert Payment.TransferFailed();
    }
}
