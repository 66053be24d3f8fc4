// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {IInboxHub} from "../src/IInboxHub.sol";
import {Route, Terms} from "../src/Terms.sol";
import {BridgeBaseTest} from "./BridgeBase.t.sol";

/// @dev A payout that is not on an EVM chain: everything is bridged, and the fee is taken where the money is settled.
contract SolanaPayoutTest is BridgeBaseTest {
    function test_everythingIsBridged_whateverTheFee(uint128 units, uint16 feeBps) public {
        vm.assume(units > 0);
        Terms memory terms = elsewhereTerms(usualRoute());
        terms.feeBps = feeBps % 1_001;
        token.mint(hub.inboxOf(terms), units);
        assertEq(hub.bridge(terms, usualRoute(), noProof(), ""), units);
        assertEq(arrived(terms, address(token)), units);
        assertEq(token.balanceOf(feeRecipient) + token.balanceOf(hub.inboxOf(terms)), 0);
    }

    function test_nativeCoin() public {
        Route memory route = usualRoute();
        route.token = address(0);
        Terms memory terms = elsewhereTerms(route);
        vm.deal(hub.inboxOf(terms), 1 ether);
        hub.bridge(terms, route, noProof(), "");
        assertEq(arrived(terms, address(0)), 1 ether);
    }

    function test_settleRevertsForSuchAPayout() public {
        Terms memory terms = elsewhereTerms(usualRoute());
        vm.deal(hub.inboxOf(terms), 1 ether);
        vm.expectRevert(IInboxHub.WrongChain.selector);
        hub.settle(terms);
    }
}
