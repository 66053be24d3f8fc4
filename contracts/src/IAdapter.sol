// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Route, Terms} from "./Terms.sol";

/// @title IAdapter
/// @notice Knows one bridge. A route names its adapter, and the terms of an inbox commit to its routes, so an adapter
/// acts only for inboxes that were made for it. It has no owner, no storage and no balance.
interface IAdapter {
    /// @notice The most that one call of `bridge` may carry, in the token's smallest units. It is asked for as an
    /// ordinary call, before any fee is taken.
    function unitsMax(Route calldata route) external view returns (uint256);

    /// @notice Sends exactly `units` of the route's token away. It runs as the inbox, by delegatecall, so
    /// `address(this)` is the inbox and everything the inbox holds is within reach.
    ///
    /// When `terms.settleChainId` is not 0 the money must arrive at this same address. Otherwise the recipient must be
    /// pinned in `route.config`. Nothing may depend on who calls.
    /// @param quote Whatever the caller says: the adapter must not let it move a unit to anywhere else.
    function bridge(Terms calldata terms, Route calldata route, uint256 units, bytes calldata quote) external;
}
