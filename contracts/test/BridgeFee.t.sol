// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {IInboxHub} from "../src/IInboxHub.sol";
import {Payment} from "../src/Payment.sol";
import {Route, Terms} from "../src/Terms.sol";
import {BridgeBaseTest} from "./BridgeBase.t.sol";
import {BlockingToken, HungryToken} from "./tokens/OddTokens.sol";

/// @dev The fee of a payout that is not on an EVM chain: it is taken where the money arrives first.
contract BridgeFeeTest is BridgeBaseTest {
    event FeeTaken(address indexed inbox, address indexed token, uint256 fee);

    function test_splitsExactly(uint128 units, uint16 feeBps) public {
        vm.assume(units > 0);
        Terms memory terms = elsewhereTerms(usualRoute());
        terms.feeBps = feeBps % 1_001;
        token.mint(hub.inboxOf(terms), units);
        uint256 fee = uint256(units) * terms.feeBps / 10_000;
        assertEq(hub.bridge(terms, usualRoute(), noProof(), ""), units - fee);
        assertEq(token.balanceOf(feeRecipient), fee);
        assertEq(arrived(terms, address(token)), units - fee);
        assertEq(token.balanceOf(hub.inboxOf(terms)), 0);
    }

    function test_tellsTheFee() public {
        Terms memory terms = elsewhereTerms(usualRoute());
        token.mint(hub.inboxOf(terms), 10_000);
        vm.expectEmit(address(hub));
        emit FeeTaken(hub.inboxOf(terms), address(token), 50);
        hub.bridge(terms, usualRoute(), noProof(), "");
    }

    function test_nativeCoin() public {
        Route memory route = usualRoute();
        route.token = address(0);
        Terms memory terms = elsewhereTerms(route);
        vm.deal(hub.inboxOf(terms), 1 ether);
        hub.bridge(terms, route, noProof(), "");
        assertEq(feeRecipient.balance, 0.005 ether);
        assertEq(arrived(terms, address(0)), 0.995 ether);
    }

    /// @dev Several passages pay together what one would have paid, except for rounding.
    function test_ofAPartIsTheFeeOfThatPart() public {
        Route memory route = usualRoute();
        route.config = abi.encode(wire, 10_000);
        Terms memory terms = elsewhereTerms(route);
        token.mint(hub.inboxOf(terms), 25_000);
        for (uint256 i = 0; i < 3; ++i) {
            hub.bridge(terms, route, noProof(), "");
        }
        assertEq(token.balanceOf(feeRecipient), 50 + 50 + 25);
        assertEq(arrived(terms, address(token)), 25_000 - 125);
    }

    function test_refusedFee_isForfeitedToThePayout() public {
        BlockingToken issuer = new BlockingToken();
        token = issuer;
        issuer.setBlocked(feeRecipient, true);
        Terms memory terms = elsewhereTerms(usualRoute());
        token.mint(hub.inboxOf(terms), 10_000);
        vm.recordLogs();
        assertEq(hub.bridge(terms, usualRoute(), noProof(), ""), 10_000);
        assertEq(arrived(terms, address(token)), 10_000);
        assertEq(countLogs(IInboxHub.FeeTaken.selector), 0);
    }

    function test_noGasLimitMakesTheFeeFail_stepByStep() public {
        HungryToken hungry = new HungryToken();
        token = hungry;
        hungry.setAppetite(feeRecipient, 130_000);
        (uint256 refusals, uint256 payments) = (0, 0);
        for (uint256 i = 0; i < 200; ++i) {
            Terms memory terms = elsewhereTerms(usualRoute());
            terms.salt = bytes32(i);
            token.mint(hub.inboxOf(terms), 10_000);
            uint256 feesBefore = token.balanceOf(feeRecipient);
            bytes memory data = abi.encodeCall(IInboxHub.bridge, (terms, usualRoute(), noProof(), ""));
            (bool sent,) = address(hub).call{gas: 120_000 + i * 2_000}(data);
            sent ? ++payments : ++refusals;
            assertEq(token.balanceOf(feeRecipient) - feesBefore, sent ? 50 : 0);
            assertEq(arrived(terms, address(token)), sent ? 9_950 : 0);
        }
        assertTrue(refusals > 20 && payments > 20, "the steps miss the point where gas runs dry");
    }

    function test_reverts_whenTheFeeLegIsStarved() public {
        BlockingToken issuer = new BlockingToken();
        token = issuer;
        issuer.setBlocked(feeRecipient, true);
        Terms memory terms = elsewhereTerms(usualRoute());
        token.mint(hub.inboxOf(terms), 10_000);
        vm.expectRevert(Payment.FeeLegStarved.selector);
        hub.bridge{gas: 220_000}(terms, usualRoute(), noProof(), "");
    }

    function test_settleRevertsForSuchAPayout() public {
        Terms memory terms = elsewhereTerms(usualRoute());
        vm.deal(hub.inboxOf(terms), 1 ether);
        vm.expectRevert(IInboxHub.WrongChain.selector);
        hub.settle(terms);
    }
}
