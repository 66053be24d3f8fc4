// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {IInboxHub} from "../src/IInboxHub.sol";
import {Payment} from "../src/Payment.sol";
import {Terms} from "../src/Terms.sol";
import {BaseTest} from "./Base.t.sol";
import {BlockingToken, HookToken, NoReturnToken, TaxToken, UnitToken, UnreadableToken} from "./tokens/OddTokens.sol";

contract SettleNettedTest is BaseTest {
    event NettedSettled(address indexed token, address indexed payout, uint256 gross, uint256 fee, uint256 count);
    event SettleFailed(address indexed inbox, bytes4 reason);

    function saltsOf(uint256 count) private view returns (bytes32[] memory salts) {
        salts = new bytes32[](count);
        for (uint256 i = 0; i < count; ++i) {
            salts[i] = termsOf(i).salt;
        }
    }

    function fundedSalts(uint256 count, uint256 units) private returns (bytes32[] memory salts) {
        salts = saltsOf(count);
        for (uint256 i = 0; i < count; ++i) {
            token.mint(hub.inboxOf(termsOf(i)), units);
        }
    }

    function test_paysWhatEachInboxWouldHavePaidAlone(uint64[7] memory amounts, uint16 feeBps) public {
        bytes32[] memory salts = saltsOf(amounts.length);
        Terms memory shared = termsOf(0);
        shared.feeBps = feeBps % 1_001;
        (uint256 grossSum, uint256 feeSum) = (0, 0);
        for (uint256 i = 0; i < amounts.length; ++i) {
            shared.salt = salts[i];
            token.mint(hub.inboxOf(shared), amounts[i]);
            grossSum += amounts[i];
            feeSum += uint256(amounts[i]) * shared.feeBps / 10_000;
        }
        hub.settleNetted(shared, salts, ITEM_GAS);
        assertEq(token.balanceOf(feeRecipient), feeSum);
        assertEq(token.balanceOf(payout), grossSum - feeSum);
        assertEq(token.balanceOf(address(hub)), 0);
    }

    function test_tellsTheBatchOnce() public {
        bytes32[] memory salts = fundedSalts(3, 10_000);
        salts[2] = keccak256("nothing is there");
        vm.expectEmit(address(hub));
        emit NettedSettled(address(token), payout, 20_000, 100, 2);
        hub.settleNetted(termsOf(0), salts, ITEM_GAS);
    }

    function test_saltOfTheSharedTermsIsIgnored() public {
        bytes32[] memory salts = fundedSalts(2, 10_000);
        hub.settleNetted(termsOf(77), salts, ITEM_GAS);
        assertEq(token.balanceOf(payout), 19_900);
    }

    function test_nothingThere_createsNothingAndTellsNothing() public {
        bytes32[] memory salts = saltsOf(3);
        vm.recordLogs();
        hub.settleNetted(termsOf(0), salts, ITEM_GAS);
        assertEq(vm.getRecordedLogs().length, 0);
        assertEq(hub.inboxOf(termsOf(0)).code.length, 0);
    }

    function test_secondRunAndRepeatedSalts_moveNothing() public {
        bytes32[] memory salts = fundedSalts(2, 10_000);
        salts[1] = salts[0];
        hub.settleNetted(termsOf(0), salts, ITEM_GAS);
        hub.settleNetted(termsOf(0), salts, ITEM_GAS);
        assertEq(token.balanceOf(payout), 9_950);
        token.mint(hub.inboxOf(termsOf(0)), 10_000);
        hub.settleNetted(termsOf(0), salts, ITEM_GAS);
        assertEq(token.balanceOf(payout), 19_900);
    }

    function test_onlyInboxesOfTheseTermsAreTouched() public {
        bytes32[] memory salts = fundedSalts(2, 10_000);
        Terms memory thief = termsOf(0);
        (thief.payout, thief.feeRecipient) = (stranger, stranger);
        vm.prank(stranger);
        hub.settleNetted(thief, salts, ITEM_GAS);
        assertEq(token.balanceOf(stranger), 0);
        assertEq(token.balanceOf(hub.inboxOf(termsOf(0))), 10_000);
    }

    function test_tokensThatLieInTheHub_areNotPaidOut() public {
        token.mint(address(hub), 777);
        bytes32[] memory salts = fundedSalts(2, 10_000);
        hub.settleNetted(termsOf(0), salts, ITEM_GAS);
        assertEq(token.balanceOf(payout), 19_900);
        assertEq(token.balanceOf(address(hub)), 777);
    }

    function test_blockedInbox_isReportedAndTouchesNobody() public {
        BlockingToken issuer = new BlockingToken();
        token = issuer;
        bytes32[] memory salts = fundedSalts(3, 10_000);
        issuer.setBlocked(hub.inboxOf(termsOf(1)), true);
        vm.expectEmit(address(hub));
        emit SettleFailed(hub.inboxOf(termsOf(1)), Payment.TransferFailed.selector);
        bytes4[] memory failures = hub.settleNetted(termsOf(0), salts, ITEM_GAS);
        assertSelector(failures[0], bytes4(0));
        assertSelector(failures[1], Payment.TransferFailed.selector);
        assertEq(issuer.balanceOf(payout), 19_900);
        assertEq(issuer.balanceOf(hub.inboxOf(termsOf(1))), 10_000);
    }

    function test_refusedFee_isForfeitedToThePayout() public {
        BlockingToken issuer = new NoReturnToken();
        token = issuer;
        bytes32[] memory salts = fundedSalts(3, 10_000);
        issuer.setBlocked(feeRecipient, true);
        vm.expectEmit(address(hub));
        emit NettedSettled(address(token), payout, 30_000, 0, 3);
        hub.settleNetted(termsOf(0), salts, ITEM_GAS);
        assertEq(issuer.balanceOf(payout), 30_000);
    }

    function test_payeeThatReenters_cannotTakeTheFee() public {
        token = new HookToken();
        ReenteringPayee payee = new ReenteringPayee(hub);
        payout = address(payee);
        bytes32[] memory salts = fundedSalts(2, 10_000);
        payee.aim(termsOf(0), salts);
        hub.settleNetted(termsOf(0), salts, ITEM_GAS);
        assertTrue(payee.refused(), "the payee could settle in the middle");
        assertEq(token.balanceOf(feeRecipient), 100);
        assertEq(token.balanceOf(payout), 19_900);
    }

    function test_reverts_whenThePayoutIsRefused_andLeavesTheMoneyInItsInboxes() public {
        BlockingToken issuer = new BlockingToken();
        token = issuer;
        bytes32[] memory salts = fundedSalts(2, 10_000);
        issuer.setBlocked(payout, true);
        vm.expectRevert(Payment.PayoutFailed.selector);
        hub.settleNetted(termsOf(0), salts, ITEM_GAS);
        assertEq(issuer.balanceOf(hub.inboxOf(termsOf(1))), 10_000);
    }

    function test_reverts_whenLessArrivesThanLeft() public {
        token = new TaxToken();
        bytes32[] memory salts = fundedSalts(2, 10_000);
        token.mint(address(hub), 1_000_000);
        vm.expectRevert(abi.encodeWithSelector(IInboxHub.UnitsMissing.selector, 19_800, 20_000));
        hub.settleNetted(termsOf(0), salts, ITEM_GAS);
    }

    function test_reverts_whenOneUnitIsMissing() public {
        token = new UnitToken();
        bytes32[] memory salts = fundedSalts(1, 10_000);
        token.mint(address(hub), 5);
        vm.expectRevert(abi.encodeWithSelector(IInboxHub.UnitsMissing.selector, 9_999, 10_000));
        hub.settleNetted(termsOf(0), salts, ITEM_GAS);
    }

    function test_reverts_whenTheTokenIsTheNativeCoin() public {
        Terms memory shared = termsOf(0);
        shared.settleToken = address(0);
        vm.expectRevert(IInboxHub.NativeNotBatched.selector);
        hub.settleNetted(shared, new bytes32[](1), ITEM_GAS);
    }

    function test_reverts_whenThisIsAnotherChain() public {
        vm.chainId(block.chainid + 1);
        Terms memory shared = termsOf(0);
        shared.settleChainId -= 1;
        vm.expectRevert(IInboxHub.WrongChain.selector);
        hub.settleNetted(shared, new bytes32[](1), ITEM_GAS);
    }

    function test_reverts_whenFeeIsAboveTheCap() public {
        Terms memory shared = termsOf(0);
        shared.feeBps = 1_001;
        vm.expectRevert(IInboxHub.FeeTooHigh.selector);
        hub.settleNetted(shared, new bytes32[](1), ITEM_GAS);
    }

    function test_reverts_whenBalanceCannotBeRead() public {
        Terms memory shared = termsOf(0);
        shared.settleToken = address(new UnreadableToken());
        vm.expectRevert(IInboxHub.BalanceUnreadable.selector);
        hub.settleNetted(shared, new bytes32[](1), ITEM_GAS);
    }
}

contract ReenteringPayee {
    IInboxHub private immutable HUB;
    Terms private shared;
    bytes32[] private salts;
    bool public refused;

    constructor(IInboxHub hub) {
        HUB = hub;
    }

    function aim(Terms calldata shared_, bytes32[] calldata salts_) external {
        shared = shared_;
        salts = salts_;
    }

    function tokensReceived(uint256) external {
        try HUB.settleNetted(shared, salts, 500_000) {}
        catch (bytes memory reason) {
            refused = bytes4(reason) == IInboxHub.Entered.selector;
        }
    }
}
