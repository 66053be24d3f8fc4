// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Payment} from "../src/Payment.sol";
import {Terms} from "../src/Terms.sol";
import {BaseTest} from "./Base.t.sol";
import {FiatToken, FiatTokenDeployer} from "./FiatToken.sol";

/// @dev The hub on Circle's own compiled token.
contract FiatTokenTest is BaseTest {
    FiatToken private usdc;

    function setUp() public override {
        super.setUp();
        usdc = FiatTokenDeployer.deploy(vm.addr(98));
    }

    function usdcTerms(uint256 intent) private returns (Terms memory terms) {
        terms = termsOf(intent);
        terms.settleToken = address(usdc);
        usdc.mint(hub.inboxOf(terms), 100_000_000);
    }

    function test_settles() public {
        hub.settle(usdcTerms(0));
        assertEq(usdc.balanceOf(payout), 99_500_000);
        assertEq(usdc.balanceOf(feeRecipient), 500_000);
    }

    function test_blocklistedFeeRecipient_forfeitsToThePayout() public {
        usdc.blacklist(feeRecipient);
        hub.settle(usdcTerms(0));
        assertEq(usdc.balanceOf(payout), 100_000_000);
    }

    function test_blocklistedPayout_failsAloneInABatch() public {
        Terms[] memory items = new Terms[](20);
        for (uint256 i = 0; i < items.length; ++i) {
            items[i] = usdcTerms(i);
        }
        items[7].payout = stranger;
        usdc.mint(hub.inboxOf(items[7]), 100_000_000);
        usdc.blacklist(stranger);
        bytes4[] memory failures = hub.settleMany(items, ITEM_GAS);
        for (uint256 i = 0; i < items.length; ++i) {
            assertSelector(failures[i], i == 7 ? Payment.PayoutFailed.selector : bytes4(0));
        }
        assertEq(usdc.balanceOf(payout), 19 * 99_500_000);
        assertEq(usdc.balanceOf(hub.inboxOf(items[7])), 100_000_000);
    }

    function test_blocklistedInbox_failsAloneInANettedBatch() public {
        bytes32[] memory salts = new bytes32[](5);
        for (uint256 i = 0; i < salts.length; ++i) {
            salts[i] = usdcTerms(i).salt;
        }
        Terms memory shared = usdcTerms(0);
        usdc.blacklist(hub.inboxOf(shared));
        bytes4[] memory failures = hub.settleNetted(shared, salts, ITEM_GAS);
        assertSelector(failures[0], Payment.TransferFailed.selector);
        assertEq(usdc.balanceOf(payout), 4 * 99_500_000);
    }

    function test_paused_movesNothingUntilUnpaused() public {
        Terms memory terms = usdcTerms(0);
        usdc.pause();
        vm.expectRevert(Payment.PayoutFailed.selector);
        hub.settle(terms);
        usdc.unpause();
        hub.settle(terms);
        assertEq(usdc.balanceOf(payout), 99_500_000);
    }
}
