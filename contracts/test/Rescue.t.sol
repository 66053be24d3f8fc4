// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {IInboxHub} from "../src/IInboxHub.sol";
import {Payment} from "../src/Payment.sol";
import {Terms} from "../src/Terms.sol";
import {BaseTest} from "./Base.t.sol";
import {BlockingToken, UnreadableToken} from "./tokens/OddTokens.sol";
import {PlainToken} from "./tokens/PlainToken.sol";

contract RescueTest is BaseTest {
    event Rescued(address indexed inbox, address indexed token, address to, uint256 units);

    function test_wrongToken_atOnceOnTheSettleChain(uint256 units) public {
        vm.assume(units > 0);
        PlainToken wrong = new PlainToken();
        Terms memory terms = termsOf(0);
        wrong.mint(hub.inboxOf(terms), units);
        vm.expectEmit(address(hub));
        emit Rescued(hub.inboxOf(terms), address(wrong), stranger, units);
        vm.prank(recovery);
        assertEq(hub.rescue(terms, address(wrong), stranger), units);
        assertEq(wrong.balanceOf(stranger), units);
    }

    function test_nativeCoin_atOnceOnTheSettleChain() public {
        Terms memory terms = termsOf(0);
        vm.deal(hub.inboxOf(terms), 1 ether);
        vm.prank(recovery);
        hub.rescue(terms, address(0), stranger);
        assertEq(stranger.balance, 1 ether);
    }

    function test_settleToken_afterTheDate() public {
        Terms memory terms = funded(10_000);
        vm.warp(RECOVER_AFTER);
        vm.prank(recovery);
        hub.rescue(terms, address(token), stranger);
        assertEq(token.balanceOf(stranger), 10_000);
    }

    function test_everything_afterTheDateOnAnotherChain() public {
        Terms memory terms = funded(10_000);
        vm.chainId(block.chainid + 1);
        vm.warp(RECOVER_AFTER);
        vm.prank(recovery);
        hub.rescue(terms, address(token), stranger);
        assertEq(token.balanceOf(stranger), 10_000);
    }

    function test_inboxStillSettlesAfterwards() public {
        Terms memory terms = termsOf(0);
        vm.deal(hub.inboxOf(terms), 1 ether);
        vm.prank(recovery);
        hub.rescue(terms, address(0), stranger);
        token.mint(hub.inboxOf(terms), 10_000);
        hub.settle(terms);
        assertEq(token.balanceOf(payout), 9_950);
    }

    function test_reverts_whenTheCallerIsNotTheRecovery(address caller) public {
        vm.assume(caller != recovery);
        Terms memory terms = funded(10_000);
        vm.warp(RECOVER_AFTER);
        vm.prank(caller);
        vm.expectRevert(abi.encodeWithSelector(IInboxHub.NotRecovery.selector, caller, recovery));
        hub.rescue(terms, address(token), caller);
    }

    function test_reverts_whenNobodyMayRecover(address caller) public {
        vm.assume(caller != address(0));
        Terms memory terms = termsOf(0);
        terms.recovery = address(0);
        vm.warp(RECOVER_AFTER);
        vm.prank(caller);
        vm.expectPartialRevert(IInboxHub.NotRecovery.selector);
        hub.rescue(terms, address(token), caller);
    }

    function test_reverts_whenTheSettleTokenIsRescuedBeforeTheDate(uint48 timestamp) public {
        vm.assume(timestamp < RECOVER_AFTER);
        Terms memory terms = funded(10_000);
        vm.warp(timestamp);
        vm.prank(recovery);
        vm.expectRevert(abi.encodeWithSelector(IInboxHub.TooEarly.selector, timestamp, RECOVER_AFTER));
        hub.rescue(terms, address(token), stranger);
    }

    function test_reverts_whenOneSecondIsMissing() public {
        Terms memory terms = funded(10_000);
        vm.warp(RECOVER_AFTER - 1);
        vm.prank(recovery);
        vm.expectRevert(abi.encodeWithSelector(IInboxHub.TooEarly.selector, RECOVER_AFTER - 1, RECOVER_AFTER));
        hub.rescue(terms, address(token), stranger);
    }

    function test_reverts_whenAnythingIsRescuedBeforeTheDateOnAnotherChain() public {
        Terms memory terms = termsOf(0);
        PlainToken wrong = new PlainToken();
        wrong.mint(hub.inboxOf(terms), 10_000);
        vm.deal(hub.inboxOf(terms), 1 ether);
        vm.chainId(block.chainid + 1);
        address[3] memory tokens = [address(wrong), address(token), address(0)];
        for (uint256 i = 0; i < tokens.length; ++i) {
            vm.prank(recovery);
            vm.expectPartialRevert(IInboxHub.TooEarly.selector);
            hub.rescue(terms, tokens[i], stranger);
        }
    }

    function test_reverts_whenAnythingIsRescuedBeforeTheDateAndThePayoutIsNotOnAnEvmChain() public {
        Terms memory terms = termsOf(0);
        (terms.settleChainId, terms.settleToken, terms.payout) = (0, address(0), address(0));
        vm.deal(hub.inboxOf(terms), 1 ether);
        vm.prank(recovery);
        vm.expectPartialRevert(IInboxHub.TooEarly.selector);
        hub.rescue(terms, address(0), stranger);
    }

    function test_reverts_whenThereIsNoReceiver() public {
        Terms memory terms = termsOf(0);
        vm.deal(hub.inboxOf(terms), 1 ether);
        vm.prank(recovery);
        vm.expectRevert(IInboxHub.NoReceiver.selector);
        hub.rescue(terms, address(0), address(0));
    }

    function test_reverts_whenNothingIsThere() public {
        vm.prank(recovery);
        vm.expectRevert(IInboxHub.NothingToRescue.selector);
        hub.rescue(termsOf(0), address(0), stranger);
    }

    function test_reverts_whenBalanceCannotBeRead() public {
        address unreadable = address(new UnreadableToken());
        vm.prank(recovery);
        vm.expectRevert(IInboxHub.BalanceUnreadable.selector);
        hub.rescue(termsOf(0), unreadable, stranger);
    }

    function test_reverts_whenTheTokenRefuses() public {
        BlockingToken wrong = new BlockingToken();
        Terms memory terms = termsOf(0);
        wrong.mint(hub.inboxOf(terms), 10_000);
        wrong.setBlocked(stranger, true);
        vm.prank(recovery);
        vm.expectRevert(Payment.TransferFailed.selector);
        hub.rescue(terms, address(wrong), stranger);
    }
}
