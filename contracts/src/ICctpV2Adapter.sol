// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {IAdapter} from "./IAdapter.sol";

/// @title ICctpV2Adapter
/// @notice The public interface of the adapter for Circle's Cross-Chain Transfer Protocol, version 2.
interface ICctpV2Adapter is IAdapter {
    /// @notice The ABI-decoded form of `route.config`.
    struct Config {
        /// Circle's TokenMessengerV2 on the chain of the route.
        address messenger;
        /// Circle's domain number of the destination chain.
        uint32 domain;
        /// 2000 waits for finality; 1000 or less selects the fast transfer, which costs a fee.
        uint32 finalityThresholdMin;
        /// Circle's maximum fee, in millionths of the burned amount, rounded up.
        uint32 feePpmMax;
        /// 0 when the payout is on an EVM chain: the bridge then pays the inbox's own address there.
        bytes32 recipient;
    }

    error NotDelegated();
    error NativeNotTaken();
    error QuoteNotTaken();
    error RecipientPinned(bytes32 recipient);
    error RecipientMissing();
}
