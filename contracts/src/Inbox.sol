// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Payment} from "./Payment.sol";
import {Route, Terms} from "./Terms.sol";
import {Token} from "./Token.sol";

/// @title Inbox
/// @notice What the hub commands an inbox to do. An inbox is a clone of 42 bytes that delegates to the hub's own code:
/// a call of the hub has made that account warm, so a separate implementation would cost 2,500 gas more. An inbox holds
/// no terms, because its address is the commitment to them and the hub checks it on every call.
abstract contract Inbox {
    using Token for address;

    address internal immutable HUB = address(this);

    error NotHub(address caller);
    error NoCoinsTaken();

    /// @dev An inbox takes the native coin; the hub itself never holds any.
    receive() external payable {
        if (address(this) == HUB) revert NoCoinsTaken();
    }

    modifier onlyHub() {
        if (msg.sender != HUB) revert NotHub(msg.sender);
        _;
    }

    /// @notice Pays payout and fee from this inbox.
    /// @dev The compiler compares selectors in ascending order. This name has the lowest: every other one costs more
    /// gas.
    /// @return feePaid The fee, or 0 when its leg failed and the payout received everything.
    function distribute(address token, address payout, uint256 net, address feeRecipient, uint256 fee)
        external
        onlyHub
        returns (uint256 feePaid)
    {
        return Payment.pay(token, payout, net, feeRecipient, fee);
    }

    /// @notice Moves units to one address: into the hub for a netted batch, or to the recipient of a rescue.
    function send(address token, address to, uint256 units) external onlyHub {
        if (!token.tryTransfer(to, units, gasleft())) revert Payment.TransferFailed();
    }

    /// @notice Delegates this inbox to the route's adapter. The adapter has the same function and receives the calldata
    /// unchanged. The hub has verified that the terms commit to the route.
    function bridge(Terms calldata, Route calldata route, uint256, bytes calldata) external onlyHub {
        address adapter = route.adapter;
        assembly ("memory-safe") {
            let buffer := mload(0x40)
            calldatacopy(buffer, 0, calldatasize())
            if iszero(delegatecall(gas(), adapter, buffer, calldatasize(), 0, 0)) {
                returndatacopy(buffer, 0, returndatasize())
                revert(buffer, returndatasize())
            }
        }
    }
}
