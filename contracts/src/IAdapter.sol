// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Route, Terms} from "./Terms.sol";

/// @title IAdapter
/// @notice Implements one bridge. A route names its adapter, and the terms of an inbox commit to its routes, so an
/// adapter acts only for inboxes that were made for it. It has no owner, no storage and no balance.
interface IAdapter {
    /// @notice The most that one call of `bridge` can carry, in the token's smallest units. The hub reads it by an
    /// ordinary call, before it takes a fee.
    function unitsMax(Route calldata route) external view returns (uint256);

    /// @notice Sends exactly `units` of the route's token. It runs as the inbox, by delegatecall, so
    /// `address(this)` is the inbox and the code can access all of its balances.
    ///
    /// When `terms.settleChainId` is not 0, the tokens must arrive at this same address. Otherwise `route.config` must
    /// pin the recipient. Nothing may depend on the caller.
    /// @param quote Data from the caller: the adapter must not let it redirect a unit.
    function bridge(Terms calldata terms, Route calldata route, uint256 units, bytes calldata quote) external;
}
