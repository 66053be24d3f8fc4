// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {IAdapter} from "./IAdapter.sol";

/// @title ICctpV2Adapter
/// @notice The adapter of Circle's Cross-Chain Transfer Protocol, version 2, as others see it.
interface ICctpV2Adapter is IAdapter {
    /// @notice What `route.config` is the ABI encoding of.
    struct Config {
        /// Circle's TokenMessengerV2 on the chain of the route.
        address messenger;
        /// Circle's number of the chain where the money arrives.
        uint32 domain;
        /// 2000 waits for finality; 1000 and less is the fast transfer, which costs a fee.
        uint32 finalityThresholdMin;
        /// The most that Circle may keep, in millionths of what is burned, rounded up.
        uint32 feePpmMax;
        /// 0 when the payout is on an EVM chain: the money then arrives at the inbox's own address.
        bytes32 recipient;
    }

    error NotDelegated();
    error NativeNotTaken();
    error QuoteNotTaken();
    error RecipientPinned(bytes32 recipient);
    error RecipientMissing();
}
