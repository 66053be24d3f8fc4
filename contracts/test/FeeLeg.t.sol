// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {IInboxHub} from "../src/IInboxHub.sol";
import {Payment} from "../src/Payment.sol";
import {Terms} from "../src/Terms.sol";
import {BaseTest} from "./Base.t.sol";
import {BlockingToken, HungryToken, PickyReceiver, PickyToken, ZeroShyToken} from "./tokens/OddTokens.sol";

/// @dev Whatever gas a caller brings, the fee is either paid or honestly refused: never made to fail.
contract FeeLegTest is BaseTest {
    function settleWith(Terms memory terms, uint256 gasLimit) private returns (bool settled, bytes4 reason) {
        bytes memory answer;
        (settled, answer) = address(hub).call{gas: gasLimit}(abi.encodeCall(IInboxHub.settle, (terms)));
        if (!settled && answer.length >= 4) reason = bytes4(answer);
    }

    function settleNettedWith(Terms memory terms, uint256 gasLimit) private returns (bool settled) {
        bytes32[] memory salts = new bytes32[](1);
        salts[0] = terms.salt;
        (settled,) = address(hub).call{gas: gasLimit}(abi.encodeCall(IInboxHub.settleNetted, (terms, salts, ITEM_GAS)));
    }

    function test_noGasLimitMakesTheFeeFail(uint256 gasLimit, uint256 appetite, bool netted) public {
        HungryToken hungry = new HungryToken();
        token = hungry;
        hungry.setAppetite(feeRecipient, appetite % (Payment.FEE_LEG_GAS - 60_000));
        Terms memory terms = funded(10_000);
        gasLimit = 30_000 + gasLimit % 600_000;
        bool settled;
        if (netted) settled = settleNettedWith(terms, gasLimit);
        else (settled,) = settleWith(terms, gasLimit);
        assertEq(token.balanceOf(feeRecipient), settled && token.balanceOf(payout) > 0 ? 50 : 0);
        assertEq(token.balanceOf(payout) == 0 ? 0 : 9_950, token.balanceOf(payout));
    }

    /// @dev Every gas limit in steps around the point where the fee leg runs dry.
    function test_noGasLimitMakesTheFeeFail_stepByStep() public {
        HungryToken hungry = new HungryToken();
        token = hungry;
        hungry.setAppetite(feeRecipient, 130_000);
        (uint256 refusals, uint256 payments) = (0, 0);
        for (uint256 i = 0; i < 400; ++i) {
            Terms memory terms = termsOf(i);
            token.mint(hub.inboxOf(terms), 10_000);
            uint256 feesBefore = token.balanceOf(feeRecipient);
            uint256 payoutBefore = token.balanceOf(payout);
            (bool settled,) = settleWith(terms, 120_000 + i * 500);
            settled ? ++payments : ++refusals;
            assertEq(token.balanceOf(feeRecipient) - feesBefore, settled ? 50 : 0);
            assertEq(token.balanceOf(payout) - payoutBefore, settled ? 9_950 : 0);
        }
        assertTrue(refusals > 20 && payments > 20, "the steps miss the point where gas runs dry");
    }

    /// @dev A fee leg that needs nearly its whole limit and fails cheaply with less. A call keeps back 1/64 of the gas, so
    /// the leg may have had its limit only if clearly more than that was left.
    function test_noGasLimitMakesTheFeeFail_whenItNeedsNearlyItsLimit() public {
        PickyToken picky = new PickyToken();
        token = picky;
        picky.demand(feeRecipient, Payment.FEE_LEG_GAS - 1_000);
        (uint256 refusals, uint256 payments) = (0, 0);
        for (uint256 i = 0; i < 400; ++i) {
            Terms memory terms = termsOf(i);
            token.mint(hub.inboxOf(terms), 10_000);
            uint256 feesBefore = token.balanceOf(feeRecipient);
            (bool settled,) = settleWith(terms, 250_000 + i * 150);
            settled ? ++payments : ++refusals;
            assertEq(token.balanceOf(feeRecipient) - feesBefore, settled ? 50 : 0);
        }
        assertTrue(refusals > 20 && payments > 20, "the steps miss the point where gas runs dry");
    }

    /// @dev A call that carries coins costs more, so that more must be left than for a token.
    function test_noGasLimitMakesANativeFeeFail_whenItNeedsNearlyItsLimit() public {
        feeRecipient = address(new PickyReceiver(Payment.FEE_LEG_GAS));
        (uint256 refusals, uint256 payments) = (0, 0);
        for (uint256 i = 0; i < 400; ++i) {
            Terms memory terms = termsOf(i);
            terms.settleToken = address(0);
            vm.deal(hub.inboxOf(terms), 10_000);
            uint256 feesBefore = feeRecipient.balance;
            (bool settled,) = settleWith(terms, 250_000 + i * 150);
            settled ? ++payments : ++refusals;
            assertEq(feeRecipient.balance - feesBefore, settled ? 50 : 0);
        }
        assertTrue(refusals > 20 && payments > 20, "the steps miss the point where gas runs dry");
    }

    function test_tokenThatRefusesZero_isSettledWithoutAFee() public {
        token = new ZeroShyToken();
        Terms memory terms = termsOf(0);
        terms.feeBps = 0;
        token.mint(hub.inboxOf(terms), 10_000);
        (bool settled,) = settleWith(terms, 400_000);
        assertTrue(settled, "a fee of zero was transferred");
        assertEq(token.balanceOf(payout), 10_000);
    }

    function test_inABatch_anItemThatRunsOutOfGas_hasAFailedPayout() public {
        HungryToken hungry = new HungryToken();
        token = hungry;
        hungry.setAppetite(payout, type(uint256).max);
        Terms[] memory items = new Terms[](1);
        items[0] = funded(10_000);
        bytes4[] memory failures = hub.settleMany(items, 100_000);
        assertSelector(failures[0], Payment.PayoutFailed.selector);
        assertEq(token.balanceOf(hub.inboxOf(items[0])), 10_000);
    }

    function test_inABatch_aStarvedItemMovesNothing() public {
        HungryToken hungry = new HungryToken();
        token = hungry;
        hungry.setAppetite(feeRecipient, 130_000);
        Terms[] memory items = new Terms[](2);
        for (uint256 gasLimit = 150_000; gasLimit < 600_000; gasLimit += 3_000) {
            (items[0], items[1]) = (termsOf(gasLimit), termsOf(gasLimit + 1));
            token.mint(hub.inboxOf(items[0]), 10_000);
            token.mint(hub.inboxOf(items[1]), 10_000);
            uint256 feesBefore = token.balanceOf(feeRecipient);
            uint256 payoutBefore = token.balanceOf(payout);
            (bool done,) = address(hub).call{gas: gasLimit}(abi.encodeCall(IInboxHub.settleMany, (items, ITEM_GAS)));
            done;
            uint256 paid = token.balanceOf(payout) - payoutBefore;
            assertEq(paid / 9_950 * 50, token.balanceOf(feeRecipient) - feesBefore);
            assertEq(paid % 9_950, 0);
        }
    }

    function test_refusedFee_withTooLittleGasToTell_reverts() public {
        BlockingToken issuer = new BlockingToken();
        token = issuer;
        issuer.setBlocked(feeRecipient, true);
        (bool settled, bytes4 reason) = settleWith(funded(10_000), 200_000);
        assertTrue(!settled, "forfeited although the fee leg could have been starved");
        assertSelector(reason, Payment.FeeLegStarved.selector);
        assertEq(token.balanceOf(hub.inboxOf(termsOf(0))), 10_000);
        (settled,) = settleWith(termsOf(0), 400_000);
        assertTrue(settled, "an honest refusal was not forfeited");
        assertEq(token.balanceOf(payout), 10_000);
    }

    /// @dev A recipient that burns all it gets costs its own fee and no more than the leg's limit.
    function test_recipientThatBurnsGas_cannotKeepThePayoutBack() public {
        HungryToken hungry = new HungryToken();
        token = hungry;
        hungry.setAppetite(feeRecipient, type(uint256).max);
        (bool settled,) = settleWith(funded(10_000), 320_000);
        assertTrue(settled, "the payout was kept back");
        assertEq(token.balanceOf(payout), 10_000);
    }

    function test_nativeFeeToANewAccount_isPaidWithLittleGas() public {
        Terms memory terms = termsOf(0);
        terms.settleToken = address(0);
        vm.deal(hub.inboxOf(terms), 1 ether);
        (bool settled,) = settleWith(terms, 190_000);
        assertTrue(settled, "not settled");
        assertEq(feeRecipient.balance, 0.005 ether);
    }
}
