// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Route, Terms} from "../src/Terms.sol";
import {Wire, WireAdapter} from "./adapters/WireAdapter.sol";
import {BaseTest} from "./Base.t.sol";
import {Routes} from "./Routes.sol";

/// @dev Money that arrives on another chain than the one of the payout. The tests begin on that other chain.
abstract contract BridgeBaseTest is BaseTest {
    using Routes for Route[];

    uint64 internal constant HOME = 8_453;
    uint64 internal constant AWAY = 10;

    Wire internal wire = new Wire();
    WireAdapter internal adapter = new WireAdapter();

    function setUp() public virtual override {
        super.setUp();
        vm.chainId(AWAY);
    }

    /// @dev A route of the plain token from this chain, without limits.
    function usualRoute() internal view returns (Route memory) {
        return Route({
            chainId: AWAY,
            token: address(token),
            adapter: address(adapter),
            minAmount: 0,
            config: abi.encode(wire, type(uint256).max)
        });
    }

    function listOf(Route memory route) internal pure returns (Route[] memory routes) {
        routes = new Route[](1);
        routes[0] = route;
    }

    /// @dev Terms of the first intent, settled at HOME, with these routes. The settle token's address means nothing here.
    function routedTerms(Route[] memory routes) internal view returns (Terms memory terms) {
        terms = termsOf(0);
        (terms.settleChainId, terms.settleToken) = (HOME, address(0xbeef));
        terms.routesRoot = routes.rootOf();
    }

    /// @dev The same for a payout that is not on an EVM chain.
    function elsewhereTerms(Route memory route) internal view returns (Terms memory terms) {
        terms = routedTerms(listOf(route));
        (terms.settleChainId, terms.settleToken, terms.payout) = (0, address(0), address(0));
    }

    function noProof() internal pure returns (bytes32[] memory) {
        return new bytes32[](0);
    }

    /// @dev What arrived at the other end for the inbox of these terms.
    function arrived(Terms memory terms, address of_) internal view returns (uint256) {
        return wire.arrived(hub.inboxOf(terms), of_);
    }
}
